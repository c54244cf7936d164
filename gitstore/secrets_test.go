package gitstore

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/secrets"
	"git-checkpoint/gitstore/internal/secrets/scan"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// aKey matches a rule, but scanners of this repository must not find it.
var aKey = "ghp_" + strings.Repeat("aB3dE6gH9j", 4)

// scanned scans a push of issue 42 to an empty remote.
func (w *world) scanned(change ...func(*ScanRequest)) *Scanned {
	w.t.Helper()
	out, err := w.outgoing("42")
	require.NoError(w.t, err)
	req := ScanRequest{Issue: "42", Out: out}
	for _, f := range change {
		f(&req)
	}
	found, errs := w.s.ScanAll(ctx, []ScanRequest{req})
	require.NoError(w.t, errs[0])
	return found[0]
}

func plainSecret(s Secret) Secret {
	return Secret{ID: s.ID, Path: s.Path, Rule: s.Rule, Line: s.Line}
}

// Findings name the oldest checkpoint with the file, regardless of file size.
func TestScanNamesOldestCheckpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.manual(1)
	w.Write("large.txt", strings.Repeat("nothing here\n", 600_000)+aKey)
	w.Write("sub/key.txt", "a\n"+aKey+"\n")
	w.Git("add", "-A")
	first := w.manual(2)[0]
	note := w.save(w.request(checkpoint.Manual, func(r *checkpoint.Record) { r.SetNote("it is " + aKey) })).ID
	found := w.scanned()
	require.Len(t, found.Found, 3)
	assert.Equal(t, note, found.Found[0].ID)
	assert.Equal(t, "checkpoint.yaml", found.Found[0].Path)
	assert.Equal(t, Secret{ID: first, Path: "staged/large.txt", Rule: "github-token", Line: 600_001}, plainSecret(found.Found[1]))
	assert.Equal(t, Secret{ID: first, Path: "staged/sub/key.txt", Rule: "github-token", Line: 2}, plainSecret(found.Found[2]))
	allowed := w.scanned(func(r *ScanRequest) { r.Allow = scan.Allow{"*.txt", "checkpoint.yaml"} })
	assert.Empty(t, allowed.Found)
}

// Scan also reads unpublished commits below HEAD, whose files may be in no checkpoint
// tree.
func TestScanUnpublishedCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Write("key.txt", aKey)
	w.Git("add", "-A")
	w.Commit("with")
	w.Git("rm", "-q", "key.txt")
	w.Commit("without")
	w.manual(1)
	found := w.scanned()
	require.Len(t, found.Found, 1)
	assert.Equal(t, Secret{Path: "key.txt", Rule: "github-token", Line: 1}, plainSecret(found.Found[0]))
}

// Incomplete output of git causes an error, since contents are then unknown.
func TestEachObject(t *testing.T) {
	t.Parallel()
	read := func(text string, count int) (got []string, err error) {
		err = secrets.EachObject(bufio.NewReader(strings.NewReader(text)), count, func(name, kind string, _ int64, r io.Reader) error {
			data, err := io.ReadAll(r)
			got = append(got, kind+" "+name+":"+string(data))
			return err
		})
		return got, err
	}
	got, err := read("a blob 3\none\nx missing\nb tree 0\n\nc blob 1\n\n\n", 4)
	require.NoError(t, err)
	assert.Equal(t, []string{"blob a:one", "missing x:", "tree b:", "blob c:\n"}, got)
	for name, text := range map[string]string{
		"nothing": "", "missing and no more": "a missing\n", "no size": "a blob x\n", "cut in the head": "a blob 3",
		"cut in the content": "a blob 3\non", "cut after it": "a blob 3\none", "another size": "a blob 1\none\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(text, 2)
			require.Error(t, err)
		})
	}
	stop := errors.New("stop")
	err = secrets.EachObject(bufio.NewReader(strings.NewReader("a blob 3\none\n")), 1, func(string, string, int64, io.Reader) error { return stop })
	require.ErrorIs(t, err, stop)
}

// outgoing returns what a push of an issue to origin would expose.
func (w *world) outgoing(i checkpoint.Issue) (Outgoing, error) {
	outs, errs := w.s.Outgoing(ctx, "origin", []checkpoint.Issue{i}, Exposed{})
	return outs[0], errs[0]
}
