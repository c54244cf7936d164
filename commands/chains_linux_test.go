package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A repository that an earlier version wrote resumes with all its files. In that version a
// checkpoint had only the staged files by default, so the newest checkpoint may have fewer files
// than an earlier one. The files map paths to index and worktree, "-" for no file.
func TestChainsOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	if gitstore.ObjectFormat != "sha1" {
		t.Skip("the chains have SHA-1 ids")
	}
	all := map[string]string{
		"staged.txt": "staged staged", "both.txt": "staged work", "modified.txt": "base work",
		"deleted.txt": "base -", "dir/new.txt": "- work",
	}
	with := func(path, state string) map[string]string {
		changed := map[string]string{path: state}
		for path, state := range all {
			if _, known := changed[path]; !known {
				changed[path] = state
			}
		}
		return changed
	}
	allStaged := map[string]string{
		"staged.txt": "staged staged", "both.txt": "work work", "modified.txt": "work work",
		"deleted.txt": "- -", "dir/new.txt": "work work",
	}
	newest := "git checkpoint resume --yes"
	archived := "git checkpoint restore 42 $(git checkpoint list 42 --archived | grep -o 'CP-[^ ]*' | sed -n 2p)" // the one before the end of the work
	for _, c := range []struct {
		name, line string
		files      map[string]string
	}{
		{"all-then-pin", newest, all},
		{"pin-of-staged", newest, allStaged},
		{"all-then-phase-done", newest, all},
		{"turn-then-task", newest, all},
		{"all-then-worktree", newest, with("modified.txt", "base later")},
		// this save had the new files and those that were staged: the other changes were never saved
		{"untracked-then-staged", newest, map[string]string{
			"staged.txt": "staged staged", "both.txt": "staged staged", "modified.txt": "work work",
			"deleted.txt": "base base", "dir/new.txt": "- work",
		}},
		{"finish", archived, all},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := &matrixWorld{t: t, dir: t.TempDir()}
			w.env = matrixEnv(w.dir)
			stream, err := os.ReadFile(filepath.Join("..", "testdata", "chains", c.name+".stream"))
			require.NoError(t, err)
			w.must(".", "git init -q -b issue-42 repo")
			o := w.try("repo", string(stream), "git fast-import --quiet && git reset -q --hard && git config checkpoint.issue-source none")
			require.Zero(t, o.code, o.err)
			o = w.try("repo", "", c.line)
			assert.Zero(t, o.code, o.out, o.err)
			for path, want := range c.files {
				assert.Equal(t, want, w.versions(path), path)
			}
		})
	}
}

// versions returns the content of a path in the index and in the worktree.
func (w *matrixWorld) versions(path string) string {
	w.t.Helper()
	found := []string{"-", "-"}
	if o := w.try("repo", "", "git cat-file blob ':"+path+"'"); o.code == 0 {
		found[0] = strings.TrimSpace(o.out)
	}
	if data, err := os.ReadFile(filepath.Join(w.dir, "repo", filepath.FromSlash(path))); err == nil {
		found[1] = strings.TrimSpace(string(data))
	}
	return strings.Join(found, " ")
}
