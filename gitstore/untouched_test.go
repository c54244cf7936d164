package gitstore

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ours are the paths below the git directory that saves may write.
var ours = []string{
	"objects", "refs/checkpoints", "refs/git-checkpoint", "logs/refs/checkpoints", "logs/refs/git-checkpoint", "git-checkpoint",
}

// state returns every file below dir with content, mode and time, except files below the
// given paths of the git directory.
func (w *world) state(but ...string) map[string]string {
	w.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(w.Dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(w.t, err)
		name, _ := filepath.Rel(w.Dir, path)
		for _, skip := range but {
			if own := ".git/" + skip; name == own || strings.HasPrefix(name, own+"/") {
				return nil
			}
		}
		files[name] = fingerprint(w.t, path, name, d)
		return nil
	})
	require.NoError(w.t, err)
	return files
}

// fingerprint ignores times of directories in which saves create files, and of shared
// index files, whose times git updates when it reads them.
func fingerprint(t testing.TB, path, name string, d fs.DirEntry) string {
	t.Helper()
	info, err := d.Info()
	require.NoError(t, err)
	text := fmt.Sprint(info.Mode())
	made := name == ".git" || name == ".git/refs" || name == ".git/logs" || name == ".git/logs/refs"
	if !made && !strings.HasPrefix(name, ".git/sharedindex.") {
		text += fmt.Sprint(info.ModTime().UnixNano())
	}
	if info.Mode().IsRegular() {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		text += string(data)
	}
	return text
}

// Save never changes HEAD, branches, the index, the worktree, the stash, or other files
// outside of its own paths.
func TestSaveTouchesNothingElse(t *testing.T) {
	t.Parallel()
	for name, setup := range map[string]func(*gittest.Repo){
		"plain":        stage,
		"split":        func(r *gittest.Repo) { r.Git("update-index", "--split-index"); stage(r) },
		"sparse index": func(r *gittest.Repo) { r.Git("sparse-checkout", "set", "--cone", "--sparse-index", "dir") },
		"conflict":     gittest.Conflict,
		"intent":       func(r *gittest.Repo) { r.Write("later", "x"); r.Git("add", "-N", "later") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(r *gittest.Repo) {
				r.Write("a.txt", "stashed")
				r.Git("stash")
				setup(r)
			})
			w.Write("untracked", "x")
			w.Write("a.txt", "unstaged")
			before := w.state(ours...)
			for range 3 {
				w.captured(func(req *SaveRequest) { req.Retention = retention.Policy{checkpoint.Manual: {Keep: 1}} })
			}
			assert.Equal(t, before, w.state(ours...))
		})
	}
}

// Dry runs write nothing, and return the result of a real save.
func TestDryRunWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(r *gittest.Repo) {
		r.Git("config", "filter.up.clean", "tr a-z A-Z")
		r.Write(".gitattributes", "*.up filter=up\n")
		r.Git("update-index", "--split-index")
		r.Git("add", "-A")
	})
	w.manual(2)
	w.Write("x.up", "text\n")
	w.Write("a.txt", "staged\n")
	w.Git("add", "a.txt")
	w.Write("a.txt", "unstaged\n")
	before := w.state()
	req := w.request(checkpoint.Manual)
	req.Artifacts, req.DryRun = []string{"a.txt"}, true
	req.Retention = retention.Policy{checkpoint.Manual: {Keep: 1}}
	would := w.save(req)
	assert.Equal(t, before, w.state())
	req.DryRun = false
	saved := w.save(req)
	assert.Len(t, would.Pruned, 2)
	assert.Equal(t, would.Pruned, saved.Pruned)
	assert.Equal(t, would.Files, saved.Files)
	assert.Equal(t, would.Record.Files(), saved.Record.Files())
	w.sound()
}

// Failed saves leave no ref, reflog or record behind.
func TestFailedSaveChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.manual(1)
	hash := w.Hash("staged")
	w.Git("update-index", "--add", "--cacheinfo", "100644,"+hash+",gone.txt")
	require.NoError(t, os.Remove(w.GitPath("objects/"+hash[:2]+"/"+hash[2:])))
	ours := []string{"git-checkpoint"} // the index of this program, for the next save
	before := w.state(ours...)
	_, err := w.s.Save(ctx, w.request(checkpoint.Manual))
	require.ErrorContains(t, err, "gone.txt")
	require.ErrorContains(t, err, hash)
	assert.Equal(t, before, w.state(ours...))
}
