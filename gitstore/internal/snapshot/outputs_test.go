package snapshot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newSite returns an empty repository.
func newSite(t *testing.T) (*gittest.Repo, *Capturer) {
	t.Helper()
	r := gittest.New(t)
	store, err := odb.Open(odb.Config{Dir: r.GitPath("objects"), Git: git.Git{Dir: r.Dir}})
	require.NoError(t, err)
	t.Cleanup(func() { store.Close() })
	return r, New(&repo.Repo{Git: git.Git{Dir: r.Dir}, Info: repository.Info{Root: r.Dir}, Objects: store}, nil)
}

// entries returns tree entries with one file per directory, all with the same content.
func entries(r *gittest.Repo, files ...string) []trees.Entry {
	var all []trees.Entry
	for _, file := range files {
		dir, name, _ := strings.Cut(file, "/")
		tree := string(r.Pipe([]byte("100644 blob "+r.Hash("x")+"\t"+name+"\n"), "mktree"))
		all = append(all, trees.Entry{Mode: trees.ModeTree, Name: dir, Hash: plumbing.NewHash(strings.TrimSpace(tree))})
	}
	return all
}

// refers returns a record that refers to files.
func refers(t *testing.T, places ...string) *checkpoint.Record {
	t.Helper()
	record := checkpoint.New()
	for i, place := range places {
		require.NoError(t, record.Doc().Assign(fmt.Sprintf("agent_outputs.dev.a%d.output_location", i), place))
	}
	return record
}

// TestDigests checks that digests are git's blob hashes, for regular files inside the
// worktree only.
func TestDigests(t *testing.T) {
	t.Parallel()
	w, s := newSite(t)
	outside := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(outside, []byte("secret\n"), 0o600))
	w.Write("out/a.txt", "a\r\n")
	w.Write("b.txt", "b\n")
	w.Write("line\nbreak", "x")
	require.NoError(t, os.Symlink(outside, filepath.Join(w.Dir, "away")))
	require.NoError(t, os.Symlink("b.txt", filepath.Join(w.Dir, "near")))
	w.Write(".gitattributes", "*.txt text\n")

	got, err := s.Digests(t.Context(), []string{
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

// TestCarryOverKeepsUntrackedArtifacts checks that artifacts of a record are carried over if they are untracked.
// The script phase-output-kept tests deleted ones.
func TestCarryOverKeepsUntrackedArtifacts(t *testing.T) {
	t.Parallel()
	r, s := newSite(t)
	record := func() (*checkpoint.Record, error) { return refers(t, "./out", "gone", "other"), nil }
	assert.Equal(t, []string{"./out"}, s.carriedOver(entries(r, "state/out"), record))
	assert.Empty(t, s.carriedOver(entries(r, "state/out", "state/x", "staged/out"), record), "tracked since")
	assert.Empty(t, s.carriedOver(nil, func() (*checkpoint.Record, error) {
		t.Error("the record was read for nothing")
		return nil, errors.New("not read")
	}))
}
