package gitstore

import (
	"os"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rawTree stores a tree as it is given, however wrong.
func (x *site) rawTree(entries ...treeEntry) treeEntry {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(treeLine(e))
	}
	hash := strings.TrimSpace(string(x.Pipe([]byte(b.String()), "hash-object", "-t", "tree", "-w", "--stdin", "--literally")))
	return treeEntry{mode: modeTree, hash: plumbing.NewHash(hash)}
}

func treeLine(e treeEntry) string {
	return map[uint32]string{modeTree: "40000", modeFile: "100644", modeSymlink: "120000", modeGitlink: "160000", 0o100755: "100755", 0o60000: "60000"}[e.mode] +
		" " + e.name + "\x00" + string(e.hash[:])
}

func (e treeEntry) as(name string) treeEntry { e.name = name; return e }

// forge is a checkpoint like c with other trees.
func (x *site) forge(c *Checkpoint, entries ...treeEntry) *Checkpoint {
	old, err := readTree(x.s.objects, c.Tree)
	require.NoError(x.t, err)
	record, _ := entry(old, "checkpoint.yaml")
	base, _ := entry(old, "staged")
	all := []treeEntry{record}
	for _, e := range entries {
		all = append(all, e)
		if e.name == "staged" {
			base.name = ""
		}
	}
	if base.name != "" {
		all = append(all, base)
	}
	tree := x.rawTree(all...)
	parents := strings.Fields(x.Git("log", "-1", "--format=%P", c.Commit.String()))
	commit := x.Git("commit-tree", "-m", x.Git("log", "-1", "--format=%B", c.Commit.String()), "-p", parents[0], "-p", parents[1], tree.hash.String())
	forged := *c
	forged.Commit, forged.Tree = plumbing.NewHash(commit), tree.hash
	return &forged
}

func TestRestoreRefusesHostileTrees(t *testing.T) {
	x := newSite(t)
	c := x.save()
	evil := treeEntry{mode: modeFile, hash: plumbing.NewHash(x.Hash("evil\n"))}
	link := treeEntry{mode: modeSymlink, hash: plumbing.NewHash(x.Hash("/tmp"))}
	in := func(dir string, e treeEntry) treeEntry { return x.rawTree(e).as(dir) }
	hostile := map[string][]treeEntry{
		".git/config":         {in(".git", evil.as("config"))},
		".GIT":                {in(".GIT", evil.as("config"))},
		"git~1":               {in("git~1", evil.as("config"))},
		"hfs":                 {in(".g\u200cit", evil.as("config"))},
		"ntfs stream":         {in(".git::$INDEX_ALLOCATION", evil.as("config"))},
		"below":               {in("d", in(".git", evil.as("config")))},
		"..":                  {in("..", evil.as("x"))},
		".":                   {in(".", evil.as("x"))},
		"dots in a name":      {evil.as("../x")},
		"absolute":            {evil.as("/tmp/git-checkpoint-x")},
		"empty":               {evil.as("")},
		"trailing slash":      {evil.as("x/")},
		".git file":           {evil.as(".git")},
		"symlinked modules":   {link.as(".gitmodules")},
		"twice":               {evil.as("x"), evil.as("x")},
		"out of order":        {evil.as("z"), evil.as("a"), evil.as("z")},
		"file and directory":  {evil.as("x"), in("x", evil.as("y"))},
		"link and directory":  {link.as("x"), in("x", evil.as("y"))},
		"by a slash":          {evil.as("x"), evil.as("x/y")},
		"a device":            {{mode: 0o60000, name: "x", hash: evil.hash}},
		"missing blob":        {{mode: modeFile, name: "x", hash: plumbing.NewHash(strings.Repeat("12", 20))}},
		"a tree as a file":    {{mode: modeFile, name: "x", hash: x.rawTree(evil.as("y")).hash}},
		"submodule elsewhere": {{mode: modeGitlink, name: "x", hash: evil.hash}},
	}
	before, config := x.picture(), x.Read(".git/config")
	for name, entries := range hostile {
		for _, place := range []string{"staged", "worktree", "untracked", "artifacts", "conflicts"} {
			if name == "submodule elsewhere" && (place == "staged" || place == "conflicts") {
				continue
			}
			t.Run(name+" in "+place, func(t *testing.T) {
				tree := x.rawTree(entries...)
				if place == "conflicts" {
					tree = x.rawTree(tree.as("2"))
				}
				_, err := x.try(x.forge(c, tree.as(place)), force)
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
	assert.Empty(x.t, x.s.Pending())
	_, err := os.Lstat(x.GitPath("index.lock"))
	assert.ErrorIs(x.t, err, os.ErrNotExist)
}

// TestRestoreSymlinkThenBelow: a symlink of the worktree that an artifact of
// the same checkpoint, or a file of a later one, is named below.
func TestRestoreSymlinkThenBelow(t *testing.T) {
	x := newSite(t)
	outside := t.TempDir()
	x.link(outside, "s")
	x.Git("add", "-A")
	x.Commit("a symlink")
	c := x.save()
	evil := treeEntry{mode: modeFile, hash: plumbing.NewHash(x.Hash("evil\n"))}
	for _, place := range []string{"staged", "worktree", "untracked", "artifacts"} {
		tree := x.rawTree(x.rawTree(evil.as("x")).as("s"))
		_, err := x.try(x.forge(c, tree.as(place)), force)
		t.Log(place, err)
		entries, err := os.ReadDir(outside)
		require.NoError(t, err)
		assert.Empty(t, entries)
	}
}

// TestRestoreIntoASubmodule: another repository's files are not ours.
func TestRestoreIntoASubmodule(t *testing.T) {
	x := newSite(t)
	x.Git("init", "-q", "sub")
	x.Git("-C", "sub", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
	x.Git("add", "sub")
	x.Commit("with a submodule")
	c := x.save()
	evil := treeEntry{mode: modeFile, hash: plumbing.NewHash(x.Hash("evil\n"))}
	forged := x.forge(c, x.rawTree(x.rawTree(evil.as("x")).as("sub")).as("untracked"))
	done := x.restore(forged, force)
	assert.Equal(t, []string{"sub/x"}, done.InTheWay)
}
