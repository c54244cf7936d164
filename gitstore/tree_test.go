package gitstore

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"git-checkpoint/gitstore/gitcmd"
	"git-checkpoint/gitstore/internal/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func FuzzParseTree(f *testing.F) {
	f.Add([]byte("100644 a\x00aaaaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("40000 a\x00aaaaaaaaaaaaaaaaaaaa100644 a.b\x00aaaaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("100644 a"))
	f.Add([]byte("x a\x00aaaaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("\x00 "))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseTree(data)
		if err != nil {
			return
		}
		again, err := parseTree(encodeTree(entries))
		require.NoError(t, err)
		assert.Equal(t, entries, again) // encodeTree sorts in place
	})
}

func FuzzParseCommit(f *testing.F) {
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nx\n\nCheckpoint-Id: x-1\n"))
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent 4b825dc642cb6eb9a060e54bf8d69288fbee4904\ngpgsig x\n y\n\n"))
	f.Add([]byte("tree x\n\n"))
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseCommit(plumbing.ZeroHash, data)
		if err != nil {
			return
		}
		assert.Equal(t, strings.ToLower(string(data)), strings.ToLower(string(c.encode())))
		_ = c.describe("42")
		_ = c.isLedger()
		_ = c.authored()
	})
}

// Every entry of git's own diff, in its order, and no other.
func TestDiffTreesIsGits(t *testing.T) {
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(3, 4))
	before := w.randomTree(rng)
	for range 60 {
		after := w.randomTree(rng)
		out := w.Pipe(nil, "diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", before, after)
		var want []string
		fields := gitcmd.Fields(out)
		for i := 0; i+1 < len(fields); i += 2 {
			want = append(want, strings.Join(strings.Fields(strings.TrimPrefix(fields[i], ":"))[:4], " ")+" "+fields[i+1])
		}
		changes, err := diffTrees(w.s.objects, plumbing.NewHash(before), plumbing.NewHash(after))
		require.NoError(t, err)
		var got []string
		for _, c := range changes {
			got = append(got, fmt.Sprintf("%06o %06o %s %s %s", c.old.mode, c.new.mode, c.old.hash, c.new.hash, c.path))
		}
		assert.Equal(t, want, got)
		before = after
	}
}

// randomTree writes a small tree whose names collide as files and directories.
func (w *world) randomTree(rng *rand.Rand) string {
	w.t.Helper()
	names := []string{"a", "a/b", "a/b/c", "a.b", "a-b", "a0", "b", "b/x", "c/d/e/f", "z", "a\nb", "\xff"}
	modes := []string{"100644", "100755", "120000", "160000"}
	w.Git("read-tree", "--empty")
	var in strings.Builder
	for _, name := range names {
		if rng.IntN(2) == 0 {
			mode := modes[rng.IntN(len(modes))]
			fmt.Fprintf(&in, "%s %s\t%s\x00", mode, w.Hash(fmt.Sprint(rng.IntN(2))), name)
		}
	}
	w.Pipe([]byte(in.String()), "update-index", "-z", "--add", "--replace", "--index-info")
	return w.Git("write-tree")
}

// Names that are fine are let through.
func TestCheckPathLetsThrough(t *testing.T) {
	for _, path := range []string{"a", ".gitignore", ".gitmodules", "dir/.gitattributes", ".github/x", "git", "a~1", "x/...", "git~2"} {
		assert.NoError(t, checkPath(path, modeFile), path)
	}
	for _, path := range []string{"", "/a", "a/", "a//b", "../a", "a/..", "a/./b", ".git/x", "a/.GIT/b", "a\x00b"} {
		assert.Error(t, checkPath(path, modeFile), path)
	}
}

// A path that checkPath lets through is one that git fsck accepts in a push.
func TestCheckPathIsAsStrictAsFsck(t *testing.T) {
	w := gittest.New(t)
	for _, name := range []string{
		"a", "a b", ".gitx", "git", ".gitignore", "a\\b", "con", "a:b", "\xff", "...", ".git", ".GIT", ".git ", ".git.", ".git...", "git~1", "GIT~1",
		".git::$INDEX_ALLOCATION", ".g\u200cit", ".Git\u200d", ".", "..", ".gitmodules", ".gitmodules ", "gitmod~1", "gitmod~4", "gi7eba~1",
		"gi7eba~9", "gi7eb~10", "GI7E~123", ".git\\x", "x\\.git", ".gitmodules:x", ".gitmodule\u200cs", ".gitattributes", ".mailmap", "gitmod~1.", "gi7eba~1 ",
		".GITMODULES", ".gitattributes ", "gitatt~1", "gi7d29~1", "gi7d2~12", "~1234567", "gitmod~5", "gitmod~10", "\xff.git", "a~1",
	} {
		for _, mode := range []uint32{modeFile, modeExec, modeSymlink, modeTree} {
			t.Run(fmt.Sprintf("%o %q", mode, name), func(t *testing.T) {
				path := name
				if mode == modeTree {
					path += "/x"
				}
				if checkPath(path, mode) != nil {
					return
				}
				w.Git("prune", "--expire=now") // fsck looks at every loose object
				hash := w.Hash("x")
				if mode == modeTree {
					hash = strings.TrimSpace(string(w.Pipe(fmt.Appendf(nil, "100644 blob %s\tx\x00", hash), "mktree", "-z")))
				}
				kind := map[bool]string{true: "tree", false: "blob"}[mode == modeTree]
				tree := strings.TrimSpace(string(w.Pipe(fmt.Appendf(nil, "%06o %s %s\t%s\x00", mode, kind, hash, name), "mktree", "-z")))
				_, err := w.Run(nil, "fsck", "--no-progress", tree)
				assert.NoError(t, err)
			})
		}
	}
}
