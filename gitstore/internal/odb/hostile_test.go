package odb

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// An item is a handmade pack entry.
type item struct {
	name plumbing.Hash
	head []byte // type, size and base reference
	body []byte
}

func deflate(content []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(content)
	_ = z.Close()
	return b.Bytes()
}

func headOf(kind plumbing.ObjectType, size int) []byte {
	return entryHead(&added{kind: kind, content: make([]byte, size)})
}

// inMemory returns a reader of a pack with the items, and their offsets.
func inMemory(t testing.TB, items ...item) (packReader, []int64) {
	t.Helper()
	data := []byte("PACK\x00\x00\x00\x02")
	data = binary.BigEndian.AppendUint32(data, uint32(len(items)))
	var offsets []int64
	for _, i := range items {
		offsets = append(offsets, int64(len(data)))
		data = append(append(data, i.head...), i.body...)
	}
	data = append(data, make([]byte, objectformat.Size)...)
	x, err := parseIdx(indexOf(items, offsets))
	require.NoError(t, err)
	return packReader{new(pack), x, &region{data: data, size: int64(len(data))}}, offsets
}

// indexOf returns a pack index. The names must be sorted.
func indexOf(items []item, offsets []int64) []byte {
	b := append([]byte(nil), idxMagic...)
	for first := range 256 {
		n := 0
		for _, i := range items {
			if int(i.name[0]) <= first {
				n++
			}
		}
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	for _, i := range items {
		b = append(b, i.name[:]...)
	}
	b = append(b, make([]byte, 4*len(items))...)
	for _, off := range offsets {
		b = binary.BigEndian.AppendUint32(b, uint32(off))
	}
	return append(b, make([]byte, idxTrailer)...)
}

func name(first byte) plumbing.Hash { return plumbing.Hash{first} }

func refTo(kind plumbing.ObjectType, size int, base plumbing.Hash) []byte {
	return append(headOf(kind, size), base[:]...)
}

func TestHostilePacks(t *testing.T) {
	t.Parallel()
	text := []byte("content")
	same := []byte{7, 7, 0x90, 7} // copies the 7 bytes of its base
	blob := item{name(1), headOf(plumbing.BlobObject, len(text)), deflate(text)}
	for _, c := range []struct {
		what  string
		items []item
		want  string // error for the last item, "" for success
	}{
		{"a good blob", []item{blob}, ""},
		{"a good delta", []item{blob, {name(2), refTo(plumbing.REFDeltaObject, 4, name(1)), deflate(same)}}, ""},
		{"a delta on itself", []item{{name(1), refTo(plumbing.REFDeltaObject, 4, name(1)), deflate(same)}}, "is too long"},
		{"deltas in a circle", []item{
			{name(1), refTo(plumbing.REFDeltaObject, 4, name(2)), deflate(same)},
			{name(2), refTo(plumbing.REFDeltaObject, 4, name(1)), deflate(same)},
		}, "is too long"},
		{"a base elsewhere", []item{{name(1), refTo(plumbing.REFDeltaObject, 4, absent), deflate(same)}}, "is not in the pack"},
		{"a base before the pack", []item{{name(1), append(headOf(plumbing.OFSDeltaObject, 4), 0x7f), deflate(same)}}, "outside of the pack"},
		{"a base at itself", []item{{name(1), append(headOf(plumbing.OFSDeltaObject, 4), 0), deflate(same)}}, "outside of the pack"},
		{"an endless size", []item{{name(1), bytes.Repeat([]byte{0xff}, 30), nil}}, "damaged"},
		{"an endless distance", []item{{name(1), append(headOf(plumbing.OFSDeltaObject, 4), bytes.Repeat([]byte{0xff}, 30)...), nil}}, "damaged"},
		{"a size of a terabyte", []item{{name(1), []byte{0xb0, 0x80, 0x80, 0x80, 0x80, 0x40}, deflate(text)}}, "too large"},
		{"a size of 400 MB", []item{{name(1), append([]byte{0xb0}, 0x80, 0x80, 0x80, 0x0c), deflate(text)}}, "7 bytes, not 402653184"},
		{"a shorter size", []item{{name(1), headOf(plumbing.BlobObject, 3), deflate(text)}}, "more compressed data"},
		{"type 0", []item{{name(1), []byte{0x07}, deflate(text)}}, "unknown type 0"},
		{"type 5", []item{{name(1), []byte{0x57}, deflate(text)}}, "unknown type 5"},
		{"no zlib", []item{{name(1), headOf(plumbing.BlobObject, 7), []byte("content")}}, "no compressed data"},
		{"cut off", []item{{name(1), headOf(plumbing.BlobObject, 7), deflate(text)[:9]}}, "truncated"},
		{"delta for another base", []item{blob, {name(2), refTo(plumbing.REFDeltaObject, 4, name(1)), deflate([]byte{8, 7, 0x90, 7})}}, "base of 8 bytes"},
		{"delta of a gigabyte", []item{blob, {name(2), refTo(plumbing.REFDeltaObject, 7, name(1)), deflate([]byte{7, 0x80, 0x80, 0x80, 0x80, 4, 0x90})}}, "too large"},
		{"a copy from behind the base", []item{blob, {name(2), refTo(plumbing.REFDeltaObject, 5, name(1)), deflate([]byte{7, 7, 0x91, 1, 7})}}, "behind its base"},
		{"a copy that is cut", []item{blob, {name(2), refTo(plumbing.REFDeltaObject, 4, name(1)), deflate([]byte{7, 7, 0x91, 1})}}, "instruction"},
		{"an insertion that is cut", []item{blob, {name(2), refTo(plumbing.REFDeltaObject, 4, name(1)), deflate([]byte{7, 7, 7, 'a'})}}, "instruction"},
		{"a reserved instruction", []item{blob, {name(2), refTo(plumbing.REFDeltaObject, 3, name(1)), deflate([]byte{7, 7, 0})}}, "instruction"},
		{"a size of 80 bits", []item{{name(1), append(append([]byte{0xb7}, bytes.Repeat([]byte{0x80}, 10)...), 0), deflate(text)}}, "damaged"},
		{"delta without instructions", []item{blob, {name(2), refTo(plumbing.REFDeltaObject, 2, name(1)), deflate([]byte{7, 7})}}, "makes 0 bytes"},
		{"delta without sizes", []item{blob, {name(2), refTo(plumbing.REFDeltaObject, 0, name(1)), deflate(nil)}}, "size in a delta"},
	} {
		t.Run(c.what, func(t *testing.T) {
			r, offsets := inMemory(t, c.items...)
			off := offsets[len(offsets)-1]
			_, content, err := r.read(off, new(baseCache))
			_, _, headErr := r.header(off)
			_, start, startErr := r.start(off, 4)
			if c.want == "" {
				require.NoError(t, err)
				require.NoError(t, headErr)
				require.NoError(t, startErr)
				require.Equal(t, text, content)
				require.Equal(t, text[:4], start)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	t.Parallel()
	r := fixture(t, 12)
	r.Git("repack", "-adfq")
	all := everything(t, r)
	path := onlyPack(t, r)
	for _, ext := range []string{".pack", ".idx"} {
		file := strings.TrimSuffix(path, ".pack") + ext
		good, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(file, 0o644))
		for _, damage := range []func(int) []byte{
			func(i int) []byte { return good[:len(good)*i/40] },
			func(i int) []byte { b := bytes.Clone(good); clear(b[len(b)*i/40 : len(b)*(i+1)/40]); return b },
			func(i int) []byte { b := bytes.Clone(good); b[len(b)*i/40] ^= 0xff; return b },
		} {
			for i := range 40 {
				require.NoError(t, os.WriteFile(file, damage(i), 0o644))
				readAllOrFail(t, open(t, r), all)
			}
		}
		require.NoError(t, os.WriteFile(file, good, 0o644))
		requireSame(t, open(t, r), r)
	}
}

// readAllOrFail reads objects that may be damaged. Because of the zlib checksum, a
// damaged delta can only cause a wrong size.
func readAllOrFail(t *testing.T, s *Database, all []info) {
	t.Helper()
	for _, o := range all {
		_, _, err := s.Read(o.hash)
		_, _ = s.Size(o.hash)
		_, _, _ = s.Start(o.hash, 100)
		_ = err
	}
}

// Truncating a mapped pack removes its pages.
func TestTruncatedMappedPackIsError(t *testing.T) {
	t.Parallel()
	r := fixture(t, 12)
	r.Git("repack", "-adfq")
	s := open(t, r)
	h := plumbing.NewHash(r.Git("rev-parse", "HEAD:big.txt"))
	requireSame(t, s, r)
	s.cache = baseCache{}
	for _, ext := range []string{".pack", ".idx"} {
		file := strings.TrimSuffix(onlyPack(t, r), ".pack") + ext
		require.NoError(t, os.Chmod(file, 0o644))
		require.NoError(t, os.Truncate(file, 0))
		_, _, err := s.Read(h)
		require.Error(t, err)
		require.NotErrorIs(t, err, plumbing.ErrObjectNotFound)
	}
}

func TestIdxFindsObjects(t *testing.T) {
	t.Parallel()
	items := []item{{name: name(0)}, {name: name(1)}, {name: name(0x80)}, {name: name(0xff)}}
	good := indexOf(items, []int64{12, 20, 30, 40})
	x, err := parseIdx(good)
	require.NoError(t, err)
	for i, it := range items {
		off, ok, err := x.find(it.name)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, []int64{12, 20, 30, 40}[i], off)
	}
	_, ok, err := x.find(name(2))
	require.NoError(t, err)
	require.False(t, ok)
	for n := range len(good) {
		_, err := parseIdx(good[:n])
		require.Error(t, err, n)
	}
	huge := bytes.Clone(good)
	binary.BigEndian.PutUint32(huge[idxHeader+255*4:], 1<<31)
	_, err = parseIdx(huge)
	require.ErrorContains(t, err, "too short")
	far := bytes.Clone(good)
	binary.BigEndian.PutUint32(far[len(far)-idxTrailer-16:], farOffset|5)
	x, err = parseIdx(far)
	require.NoError(t, err)
	_, _, err = x.find(name(0))
	require.ErrorContains(t, err, "64-bit")
}

func TestHostileLooseObjects(t *testing.T) {
	t.Parallel()
	for what, raw := range map[string][]byte{
		"no header":       deflate([]byte("blob")),
		"no NUL":          deflate([]byte("blob 7content")),
		"no size":         deflate([]byte("blob \x00")),
		"a negative size": deflate([]byte("blob -1\x00")),
		"a signed size":   deflate([]byte("blob +7\x00content")),
		"leading zero":    deflate([]byte("blob 07\x00content")),
		"a huge size":     deflate([]byte("blob 99999999999999\x00content")),
		"an endless size": deflate([]byte("blob 99999999999999999999999999999999\x00")),
		"too short":       deflate([]byte("blob 8\x00content")),
		"too long":        deflate([]byte("blob 6\x00content")),
		"unknown type":    deflate([]byte("blub 7\x00content")),
		"a delta":         deflate([]byte("ofs-delta 7\x00content")),
		"garbage":         append(deflate([]byte("blob 7\x00content")), 0),
		"cut":             deflate([]byte("blob 7\x00content"))[:15],
		"no zlib":         []byte("blob 7\x00content"),
		"nothing":         nil,
	} {
		_, _, err := parseLoose(raw)
		require.Error(t, err, what)
	}
	wrong := stored([]byte("blob 7\x00content"))
	wrong[len(wrong)-1] ^= 1
	_, _, err := parseLoose(wrong)
	require.ErrorContains(t, err, "checksum")
	kind, content, err := parseLoose(deflate([]byte("blob 7\x00content")))
	require.NoError(t, err)
	require.Equal(t, plumbing.BlobObject, kind)
	require.Equal(t, "content", string(content))
}

// Commits above maxCommit are rejected in each storage format: loose, packed, delta.
func TestCommitAboveLimitIsRejected(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	for name, size := range map[string]int{"fits": maxCommit, "too large": maxCommit + 1} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			write := func(end string) plumbing.Hash {
				content := bytes.Repeat([]byte{'a'}, size)
				copy(content[size-len(end):], end)
				out := r.Pipe(content, "hash-object", "-t", "commit", "-w", "--stdin", "--literally")
				return plumbing.NewHash(strings.TrimSpace(string(out)))
			}
			all := []plumbing.Hash{write("one"), write("two")}
			requireRead := func() {
				t.Helper()
				s := open(t, r)
				for _, h := range all {
					kind, content, err := s.Read(h)
					if size > maxCommit {
						require.ErrorIs(t, err, ErrTooLarge)
						continue
					}
					require.NoError(t, err)
					require.Equal(t, plumbing.CommitObject, kind)
					require.Len(t, content, size)
				}
			}
			requireRead()
			in := all[0].String() + "\n" + all[1].String() + "\n"
			r.Pipe([]byte(in), "pack-objects", "-q", r.GitPath("objects/pack/pack"))
			r.Git("prune-packed", "-q")
			require.Contains(t, string(r.Pipe(nil, "verify-pack", "-v", strings.TrimSuffix(onlyPack(t, r), ".pack")+".idx")), "chain length = 1")
			requireRead()
		})
	}
}
