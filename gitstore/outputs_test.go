package gitstore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore/checkpoint"
)

// A digest is that of the blob that git would make, and only of a regular file
// within the worktree.
func TestDigests(t *testing.T) {
	w := newWorld(t)
	outside := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(outside, []byte("secret\n"), 0o600))
	w.Write("out/a.txt", "a\r\n")
	w.Write("b.txt", "b\n")
	w.Write("line\nbreak", "x")
	require.NoError(t, os.Symlink(outside, filepath.Join(w.Dir, "away")))
	require.NoError(t, os.Symlink("b.txt", filepath.Join(w.Dir, "near")))
	w.Write(".gitattributes", "*.txt text\n")

	got, err := w.s.Digests(t.Context(), []string{
		"out/a.txt", "./b.txt", "near", "away", "out", "none", "../secret", outside, "line\nbreak", "-w",
	})
	require.NoError(t, err)
	b := "blob:" + w.Git("hash-object", "b.txt")
	assert.Equal(t, map[string]string{
		"out/a.txt": "blob:" + w.Git("hash-object", "out/a.txt"), "./b.txt": b, "near": b,
		"line\nbreak": "blob:" + w.Git("hash-object", "line\nbreak"),
	}, got)
	assert.NotEqual(t, "blob:"+w.Git("hash-object", "--no-filters", "out/a.txt"), got["out/a.txt"], "line endings make no difference")
}

// Files that a record refers to are looked for (S1.71).
func TestOutputs(t *testing.T) {
	w := newWorld(t)
	w.Write("a", "1\n")
	w.Write("b", "1\n")
	record := checkpoint.New()
	for action, place := range map[string]string{"one": "a", "two": "b", "three": "c"} {
		require.NoError(t, record.Doc().Assign("agent_outputs.dev."+action+".output_location", place))
	}
	digests, err := w.s.Digests(t.Context(), []string{"a", "b"})
	require.NoError(t, err)
	record.SetOutputDigest("dev", "one", digests["a"])
	record.SetOutputDigest("dev", "two", digests["b"])
	w.Write("b", "2\n")

	got, err := w.s.Outputs(t.Context(), &Checkpoint{}, record)
	require.NoError(t, err)
	assert.Equal(t, OutputReport{Missing: []string{"c"}, Changed: []string{"b"}}, got)
}
