package refs

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const sortedHeader = headerPrefix + "peeled fully-peeled sorted \n"

// hexOf returns an object id that is unique for n.
func hexOf(n int) string { return fmt.Sprintf("%0*x", objectformat.HexSize, n+1) }

// manyRefs returns lines of packed-refs, and the values of the refs. Every tenth line has a
// peeled line.
func manyRefs(n int) (lines []string, values map[string]plumbing.Hash) {
	values = map[string]plumbing.Hash{}
	for i := range n {
		name := fmt.Sprintf("refs/checkpoints/%d", i*7)
		if i%50 == 0 {
			name += strings.Repeat("/a-long-name", 1+i%300)
		}
		values[name] = plumbing.NewHash(hexOf(i))
	}
	for name, hash := range values {
		line := hash.String() + " " + name + "\n"
		if hash[len(hash)-1]%10 == 0 {
			line += "^" + hexOf(1<<30) + "\n"
		}
		lines = append(lines, line)
	}
	slices.SortFunc(lines, func(a, b string) int {
		name := func(s string) string { return strings.SplitN(s[objectformat.HexSize+1:], "\n", 2)[0] }
		return strings.Compare(name(a), name(b))
	})
	return lines, values
}

func writePacked(t *testing.T, dir, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "packed-refs"), []byte(text), 0o666))
}

// checkPacked checks that each ref has the wanted value.
func checkPacked(t *testing.T, dir string, want map[string]plumbing.Hash) {
	t.Helper()
	r := &Reader{Path: dir, Files: true}
	for name, hash := range want {
		got, err := r.Read(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, hash, got, name)
		got, err = r.Read(t.Context(), name+"x")
		require.NoError(t, err)
		require.Zero(t, got, name+"x")
	}
}

// Refs are found in files of all sizes, sorted or not. As git does, the reader believes the header.
func TestPackedRefsOfAnyOrderAreRead(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 60, 61, 500, 800} {
		lines, values := manyRefs(n)
		reversed := slices.Clone(lines)
		slices.Reverse(reversed)
		mixed := slices.Clone(lines)
		rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		for _, text := range []string{
			sortedHeader + strings.Join(lines, ""),
			strings.Join(lines, ""),
			headerPrefix + "peeled\n" + strings.Join(mixed, ""),
			strings.Join(reversed, ""),
		} {
			dir := t.TempDir()
			writePacked(t, dir, text)
			checkPacked(t, dir, values)
		}
	}
}

// Damage hides as little as it does for git. The names in lines with CRLF end with a carriage
// return. An invalid line hides only its own ref. A file whose last line has no end is an error.
func TestDamagedPackedRefs(t *testing.T) {
	t.Parallel()
	lines, values := manyRefs(500)
	dir := t.TempDir()
	r := &Reader{Path: dir, Files: true}
	name := "refs/checkpoints/7"

	writePacked(t, dir, strings.ReplaceAll(sortedHeader+strings.Join(lines, ""), "\n", "\r\n"))
	got, err := r.Read(t.Context(), name)
	require.NoError(t, err)
	assert.Zero(t, got, "its name ends with a carriage return")

	whole := sortedHeader + strings.Join(lines, "")
	for _, damage := range []string{"zz", "no space\n", " \n", "\n", "# text\n", "^\n"} {
		at := len(sortedHeader) + len(strings.Join(lines[:250], ""))
		writePacked(t, dir, whole[:at]+damage+whole[at:])
		for k, line := range lines {
			hex, name, _ := strings.Cut(strings.SplitN(line, "\n", 2)[0], " ")
			got, err := r.Read(t.Context(), name)
			if k == 250 && damage == "zz" {
				continue // its line is damaged
			}
			require.NoError(t, err)
			require.Equal(t, hex, got.String(), "%q %s", damage, name)
		}
	}

	for _, cut := range []int{1, 5, 100} {
		writePacked(t, dir, whole[:len(whole)-cut])
		_, err = r.Read(t.Context(), name)
		require.ErrorIs(t, err, errTruncated)
	}
	require.NotEmpty(t, values)
}

// git also refuses a truncated file.
func TestGitRefusesTruncatedPackedRefs(t *testing.T) {
	t.Parallel()
	w, r, one := reader(t)
	w.Git("update-ref", "refs/checkpoints/1", one)
	w.Git("pack-refs", "--all")
	data, err := os.ReadFile(w.GitPath("packed-refs"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(w.GitPath("packed-refs"), data[:len(data)-3], 0o666))
	_, err = w.Run(nil, "rev-parse", "-q", "--verify", "refs/checkpoints/1")
	require.Error(t, err)
	_, err = r.Read(t.Context(), "refs/checkpoints/1")
	require.ErrorIs(t, err, errTruncated)
	_, err = r.Values(t.Context(), "refs/checkpoints/")
	require.Error(t, err)
}

// counted counts the bytes that are read from a file.
type counted struct {
	file  io.ReaderAt
	reads int
	bytes int64
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	c.reads++
	c.bytes += int64(len(b))
	return c.file.ReadAt(b, at)
}

// The search for one ref reads some kilobytes, whatever the number of refs.
func TestOneRefReadsLittle(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(sortedHeader)
	for i := range 200_000 {
		fmt.Fprintf(&text, "%s refs/checkpoints/%06d\n", hexOf(i), i)
	}
	dir := t.TempDir()
	writePacked(t, dir, text.String())
	for _, i := range []int{0, 1, 77_777, 123_456, 199_999} {
		file, err := os.Open(filepath.Join(dir, "packed-refs"))
		require.NoError(t, err)
		p, err := readHeader(file)
		require.NoError(t, err)
		c := &counted{file: file}
		p.file = c
		got, err := p.find(fmt.Sprintf("refs/checkpoints/%06d", i))
		require.NoError(t, err)
		require.NoError(t, file.Close())
		require.Equal(t, hexOf(i), got.String())
		assert.LessOrEqual(t, c.reads, 16)
		assert.Less(t, c.bytes, int64(16<<10))
	}
}

// A ref that git packs, moves and packs again at the same time always has one of its values,
// even if size and date of packed-refs stay equal.
func TestReadWhileGitPacks(t *testing.T) {
	t.Parallel()
	w, r, one := reader(t)
	two := w.Commit("second")
	const name = "refs/checkpoints/1"
	for i := range 200 {
		w.Git("update-ref", fmt.Sprintf("refs/checkpoints/other-%d", i), one)
	}
	w.Git("update-ref", name, one)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 20 {
			w.Git("update-ref", name, []string{two, one}[i%2])
			w.Git("pack-refs", "--all")
			_ = os.Chtimes(w.GitPath("packed-refs"), time.Time{}, time.Unix(1_700_000_000, 0))
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		got, err := r.Read(t.Context(), name)
		require.NoError(t, err)
		require.Contains(t, []string{one, two}, got.String())
		all, err := r.Values(t.Context(), "refs/checkpoints/")
		require.NoError(t, err)
		require.Len(t, all, 201)
	}
	got, err := r.Read(t.Context(), name)
	require.NoError(t, err)
	assert.Equal(t, one, got.String(), "the last value")
}
