package restore_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rawTree stores a tree without validation.
func (x *site) rawTree(entries ...trees.Entry) trees.Entry {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(treeLine(e))
	}
	hash := strings.TrimSpace(string(x.Pipe([]byte(b.String()), "hash-object", "-t", "tree", "-w", "--stdin", "--literally")))
	return trees.Entry{Mode: trees.ModeTree, Hash: plumbing.NewHash(hash)}
}

func treeLine(e trees.Entry) string {
	return map[uint32]string{trees.ModeTree: "40000", trees.ModeFile: "100644", trees.ModeSymlink: "120000", trees.ModeGitlink: "160000", 0o100755: "100755", 0o60000: "60000"}[e.Mode] +
		" " + e.Name + "\x00" + string(e.Hash[:])
}

func as(e trees.Entry, name string) trees.Entry { e.Name = name; return e }

// forge returns a checkpoint like c with other entries of its tree.
func (x *site) forge(c *gitstore.Checkpoint, entries ...trees.Entry) *gitstore.Checkpoint {
	old, err := trees.Parse(x.Pipe(nil, "cat-file", "tree", c.Tree.String()))
	require.NoError(x.t, err)
	for _, e := range old {
		if _, replaced := trees.Find(entries, e.Name); !replaced {
			entries = append(entries, e)
		}
	}
	tree := x.rawTree(entries...)
	parents := strings.Fields(x.Git("log", "-1", "--format=%P", c.Commit.String()))
	commit := x.Git("commit-tree", "-m", x.Git("log", "-1", "--format=%B", c.Commit.String()), "-p", parents[0], "-p", parents[1], tree.Hash.String())
	forged := *c
	forged.Commit, forged.Tree = plumbing.NewHash(commit), tree.Hash
	return &forged
}

func TestRestoreRefusesHostileTrees(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	c := x.save()
	evil := trees.Entry{Mode: trees.ModeFile, Hash: plumbing.NewHash(x.Hash("evil\n"))}
	link := trees.Entry{Mode: trees.ModeSymlink, Hash: plumbing.NewHash(x.Hash("/tmp"))}
	in := func(dir string, e trees.Entry) trees.Entry { return as(x.rawTree(e), dir) }
	hostile := map[string][]trees.Entry{
		".git/config":        {in(".git", as(evil, "config"))},
		".GIT":               {in(".GIT", as(evil, "config"))},
		"git~1":              {in("git~1", as(evil, "config"))},
		"hfs":                {in(".g\u200cit", as(evil, "config"))},
		"ntfs stream":        {in(".git::$INDEX_ALLOCATION", as(evil, "config"))},
		"below":              {in("d", in(".git", as(evil, "config")))},
		"..":                 {in("..", as(evil, "x"))},
		".":                  {in(".", as(evil, "x"))},
		"dots in a name":     {as(evil, "../x")},
		"absolute":           {as(evil, "/tmp/git-checkpoint-x")},
		"empty":              {as(evil, "")},
		"trailing slash":     {as(evil, "x/")},
		".git file":          {as(evil, ".git")},
		"symlinked modules":  {as(link, ".gitmodules")},
		"twice":              {as(evil, "x"), as(evil, "x")},
		"out of order":       {as(evil, "z"), as(evil, "a"), as(evil, "z")},
		"file and directory": {as(evil, "x"), in("x", as(evil, "y"))},
		"link and directory": {as(link, "x"), in("x", as(evil, "y"))},
		"by a slash":         {as(evil, "x"), as(evil, "x/y")},
		"a device":           {{Mode: 0o60000, Name: "x", Hash: evil.Hash}},
		"missing blob":       {{Mode: trees.ModeFile, Name: "x", Hash: plumbing.NewHash(strings.Repeat("12", objectformat.Size))}},
		"a tree as a file":   {{Mode: trees.ModeFile, Name: "x", Hash: x.rawTree(as(evil, "y")).Hash}},
	}
	before, config := x.picture(), x.Read(".git/config")
	for name, entries := range hostile {
		for _, place := range []string{"staged", "state", "conflicts"} {
			t.Run(name+" in "+place, func(t *testing.T) {
				tree := x.rawTree(entries...)
				if place == "conflicts" {
					tree = x.rawTree(as(tree, "2"))
				}
				_, err := x.try(x.forge(c, as(tree, place)), force)
				require.Error(t, err)
				t.Log(err)
				assert.Equal(t, before, x.picture())
				assert.Equal(t, config, x.Read(".git/config"))
				x.noRestoreLeft()
			})
		}
	}
	_, err := os.Lstat("/tmp/git-checkpoint-x")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func (x *site) noRestoreLeft() {
	x.t.Helper()
	assert.False(x.t, x.s.Restorer.Pending(x.t.Context()))
	_, err := os.Lstat(x.GitPath("index.lock"))
	assert.ErrorIs(x.t, err, os.ErrNotExist)
}

// TestRestoreIntoASubmodule checks that files of a submodule are not changed.
func TestRestoreIntoASubmodule(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.Git("init", "-q", "sub")
	x.Git("-C", "sub", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
	x.Git("add", "sub")
	x.Commit("with a submodule")
	c := x.save()
	evil := trees.Entry{Mode: trees.ModeFile, Hash: plumbing.NewHash(x.Hash("evil\n"))}
	state, err := trees.Parse(x.Pipe(nil, "cat-file", "tree", c.Commit.String()+":state"))
	require.NoError(t, err)
	state[slices.IndexFunc(state, func(e trees.Entry) bool { return e.Name == "sub" })] = as(x.rawTree(as(evil, "x")), "sub")
	forged := x.forge(c, as(x.rawTree(state...), "state"))
	done := x.restore(forged, force)
	assert.Equal(t, []string{"sub/x"}, done.InTheWay)
}
