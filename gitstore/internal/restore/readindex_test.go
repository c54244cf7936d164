package restore

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// indexOf reads the index of a repository.
func indexOf(t *testing.T, r *gittest.Repo) *lockedIndex {
	t.Helper()
	opened, err := repo.Open(t.Context(), repo.Options{Dir: r.Dir})
	require.NoError(t, err)
	t.Cleanup(func() { opened.Objects.Close() })
	area, err := New(opened, nil, nil, nil, nil).worktree().openLockedIndex(t.Context(), false)
	require.NoError(t, err)
	return area
}

// TestIndexIsReadAsGitHasIt checks stages, flags and paths of git add -N. An empty file has the same
// entry as a path of git add -N, except for a flag that git ls-files does not print.
func TestIndexIsReadAsGitHasIt(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	assert.Empty(t, indexOf(t, r).list, "no index")
	r.Write("first", "1\n")
	r.Git("add", "-N", "first")
	assert.Equal(t, []string{"first"}, indexOf(t, r).intended, "unborn")

	for _, name := range []string{"empty", "gone", "now empty", "dir/file", "skipped", "assumed", "ours"} {
		r.Write(name, strings.TrimSuffix(name, "empty"))
	}
	r.Git("add", "-A")
	r.Commit("base")
	r.Git("rm", "-q", "--cached", "gone", "dir/file")
	r.Git("update-index", "--skip-worktree", "skipped")
	r.Git("update-index", "--assume-unchanged", "assumed")
	require.NoError(t, os.RemoveAll(r.Path("dir")))
	for _, name := range []string{"dir", "now empty", "new empty", "new"} {
		r.Write(name, "")
	}
	r.Git("add", "now empty", "new empty")
	r.Git("add", "-N", "dir", "gone", "new")
	r.Pipe([]byte("0 "+plumbing.ZeroHash.String()+"\tours\n100644 "+r.Hash("1")+" 1\tours\n100755 "+r.Hash("2")+" 3\tours\n"), "update-index", "--index-info")

	area := indexOf(t, r)
	assert.Equal(t, []string{"dir", "gone", "new"}, area.intended)
	assert.Equal(t, contents.Intended, area.lookup("gone").stages[0])
	assert.Equal(t, Side{Mode: 0o100644, Hash: plumbing.NewHash(r.Hash(""))}, area.lookup("new empty").stages[0])
	assert.Equal(t, indexEntry{stages: Stages{1: {Mode: 0o100644, Hash: plumbing.NewHash(r.Hash("1"))}, 3: {Mode: 0o100755, Hash: plumbing.NewHash(r.Hash("2"))}}}, area.lookup("ours"))
	assert.Equal(t, []string{"ours"}, area.list.paths("123"))
	assert.True(t, area.lookup("skipped").sparse)
	assert.True(t, area.lookup("assumed").assume)
	assert.Equal(t, indexEntry{}, area.lookup("none"))
}

// TestHashIsThatOfGitAdd hashes files that git converts in several ways, and files that it cannot
// read, and compares the hashes with the entries that git add makes.
func TestHashIsThatOfGitAdd(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	files := map[string]string{
		"carriages": "a\r\n", "mixed": "a\r\nb\n", "newlines": "a\n", "text": "a\r\n", "binary": "a\r\n\x00",
		"letters.rot": "abc\n", "refused.bad": "x\n", "line\nbreak": "1\n", `quo"te\n`: "2\n", "carriage\r": "3\n", "clean.bad": "x\n",
	}
	for name, content := range files {
		r.Write(name, content)
	}
	r.Git("add", "-A")
	settled := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(r.Path("clean.bad"), settled, settled))
	r.Git("update-index", "--refresh")
	r.Write(".gitattributes", "text text\n*.rot filter=rot\n*.bad filter=bad\n")
	for key, value := range map[string]string{"core.autocrlf": "true", "core.safecrlf": "true", "filter.rot.clean": "tr a-y b-z", "filter.bad.clean": "false", "filter.bad.required": "true"} {
		r.Git("config", key, value)
	}
	for name, content := range files {
		if name != "clean.bad" {
			r.Write(name, content+"more\r\n")
		}
	}
	r.Write("untracked", "a\r\n")
	require.NoError(t, os.Symlink("untracked", r.Path("link")))
	paths := append(slices.Sorted(maps.Keys(files)), "untracked", "link", "none", "none/below")
	hashes, err := indexOf(t, r).hash(t.Context(), paths)
	require.NoError(t, err)
	for _, name := range paths {
		_, _ = r.Run([]byte(name+"\x00"), "-c", "core.safecrlf=false", "update-index", "--add", "-z", "--stdin") // fails for some
	}
	added := indexOf(t, r)
	for _, name := range paths {
		switch want := added.lookup(name).stages[0].Hash; name {
		case "link", "none", "none/below", "refused.bad":
			assert.Zero(t, hashes[name], name)
		default:
			assert.Equal(t, want, hashes[name], name)
			assert.NotZero(t, want, name)
		}
	}
	for name, content := range map[string]string{"carriages": "a\r\nmore\r\n", "newlines": "a\nmore\n", "text": "a\nmore\n", "letters.rot": "bcd\nnpsf\n"} {
		assert.Equal(t, plumbing.ComputeHash(plumbing.BlobObject, []byte(content)), hashes[name], name)
	}
}
