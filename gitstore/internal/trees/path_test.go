package trees

import (
	"fmt"
	"strings"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
)

// CheckPath accepts valid paths and rejects invalid paths.
func TestCheckPathAcceptsValidPaths(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"a", ".gitignore", ".gitmodules", "dir/.gitattributes", ".github/x", "git", "a~1", "x/...", "git~2"} {
		assert.NoError(t, CheckPath(path, ModeFile), path)
	}
	for _, path := range []string{"", "/a", "a/", "a//b", "../a", "a/..", "a/./b", ".git/x", "a/.GIT/b", "a\x00b"} {
		assert.Error(t, CheckPath(path, ModeFile), path)
	}
}

// If CheckPath accepts a path, git fsck accepts it in a push.
func TestCheckPathIsAsStrictAsFsck(t *testing.T) {
	t.Parallel()
	gittest.SkipShort(t)
	w := gittest.New(t)
	for _, name := range []string{
		"a", "a b", ".gitx", "git", ".gitignore", "a\\b", "con", "a:b", "\xff", "...", ".git", ".GIT", ".git ", ".git.", ".git...", "git~1", "GIT~1",
		".git::$INDEX_ALLOCATION", ".g\u200cit", ".Git\u200d", ".", "..", ".gitmodules", ".gitmodules ", "gitmod~1", "gitmod~4", "gi7eba~1",
		"gi7eba~9", "gi7eb~10", "GI7E~123", ".git\\x", "x\\.git", ".gitmodules:x", ".gitmodule\u200cs", ".gitattributes", ".mailmap", "gitmod~1.", "gi7eba~1 ",
		".GITMODULES", ".gitattributes ", "gitatt~1", "gi7d29~1", "gi7d2~12", "~1234567", "gitmod~5", "gitmod~10", "\xff.git", "a~1",
	} {
		for _, mode := range []uint32{ModeFile, ModeExec, ModeSymlink, ModeTree} {
			t.Run(fmt.Sprintf("%o %q", mode, name), func(t *testing.T) {
				path := name
				if mode == ModeTree {
					path += "/x"
				}
				if CheckPath(path, mode) != nil {
					return
				}
				w.Git("prune", "--expire=now") // fsck checks all loose objects
				hash := w.Hash("x")
				if mode == ModeTree {
					hash = strings.TrimSpace(string(w.Pipe(fmt.Appendf(nil, "100644 blob %s\tx\x00", hash), "mktree", "-z")))
				}
				kind := map[bool]string{true: "tree", false: "blob"}[mode == ModeTree]
				tree := strings.TrimSpace(string(w.Pipe(fmt.Appendf(nil, "%06o %s %s\t%s\x00", mode, kind, hash, name), "mktree", "-z")))
				_, err := w.Run(nil, "fsck", "--no-progress", tree)
				assert.NoError(t, err)
			})
		}
	}
}
