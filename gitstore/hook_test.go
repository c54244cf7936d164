package gitstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Hooks inherit GIT_DIR and GIT_INDEX_FILE, relative to git's working directory. `git
// commit -a` and `git commit FILE` use a temporary index.
func TestSaveFromAHook(t *testing.T) {
	for name, c := range map[string]struct{ dir, gitDir, index, tree string }{
		"relative":           {"", ".git", ".git/next-index", ""},
		"absolute":           {"", "ABS/.git", "ABS/.git/next-index", ""},
		"index alone":        {"", "", ".git/next-index", ""},
		"index in the tree":  {"", ".git", "next-index", ""},
		"below the root":     {"dir", "", "next-index", ""},
		"absolute, below it": {"dir", "", "ABS/.git/next-index", ""},
		"with a tree":        {"dir", "../.git", ".git/next-index", ".."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Write("a.txt", "staged in the other index\n")
			index := w.abs(c.index)
			if !filepath.IsAbs(index) {
				index = w.Path(index) // git resolves the path from the root
			}
			other := w.In(w.Dir)
			other.Setenv("GIT_INDEX_FILE", index)
			other.Git("read-tree", "HEAD")
			other.Git("add", "a.txt")
			w.Write("a.txt", "and unstaged\n")
			for key, value := range map[string]string{"GIT_DIR": c.gitDir, "GIT_INDEX_FILE": c.index, "GIT_WORK_TREE": c.tree} {
				if value != "" {
					t.Setenv(key, w.abs(value))
				}
			}
			w.s = w.open(w.Path(c.dir))
			req := w.request(checkpoint.Manual)
			saved := w.save(req)
			unset(t, "GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE")
			assert.Equal(t, other.Git("write-tree"), w.Git("rev-parse", saved.Commit.String()+":staged"))
			assert.Equal(t, "and unstaged", w.Git("cat-file", "blob", saved.Commit.String()+":state/a.txt"))
			w.s = w.open(w.Dir)
			w.sound()
		})
	}
}

func (w *world) abs(path string) string {
	if rest, ok := strings.CutPrefix(path, "ABS/"); ok {
		return w.Path(rest)
	}
	return path
}

func unset(t *testing.T, keys ...string) {
	t.Helper()
	for _, key := range keys {
		require.NoError(t, os.Unsetenv(key))
	}
}

// In a quarantine or with a shared object store, saves find objects elsewhere, and write
// new objects to git's location.
func TestSaveWithOtherObjectDirectories(t *testing.T) {
	w := newWorld(t)
	w.Write("a.txt", "in the other directory\n")
	other := t.TempDir()
	t.Setenv("GIT_OBJECT_DIRECTORY", other)
	t.Setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", w.GitPath("objects"))
	w.Setenv("GIT_OBJECT_DIRECTORY", other)
	w.Setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", filepath.Join(w.Dir, ".git/objects"))
	w.Git("add", "-A")
	w.s = w.open(w.Dir)
	w.checkStaged(w.save(w.request(checkpoint.Manual)))
	_, err := os.Stat(filepath.Join(other, chain.Genesis("42").Hash.String()[:2]))
	require.NoError(t, err)
}
