package index

import (
	"os"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/require"
)

// Each case is compared with git in index versions 2, 3 and 4.
var treeCases = []struct {
	name    string
	arrange func(*gittest.Repo)
}{
	{"nothing", func(r *gittest.Repo) { r.Git("read-tree", "--empty") }},
	{"one file", func(r *gittest.Repo) { stage(r, "a") }},
	{"directories sort with their slash", func(r *gittest.Repo) {
		stage(r, "a.b", "a/x", "a/y/z", "a0", "a-b", "a b", "ab", "b/a.c/d", "b/a/d", "b/a0/d")
	}},
	{"not UTF-8", func(r *gittest.Repo) { stage(r, "caf\xe9/\xff", "caf\xc3\xa9", "\xfe/\x01") }},
	{"newline, space, tab, quotes", func(r *gittest.Repo) {
		stage(r, "a\nb/c", " ", "tab\there", `"quoted"`, `back\slash`, "dot.", "...", ".gitx", ".g")
	}},
	{"modes", func(r *gittest.Repo) {
		h := r.Hash("x")
		info(r, line("100755", h, "run"), line("120000", h, "link"), line("100644", h, "plain"))
	}},
	{"submodule that is not here", func(r *gittest.Repo) {
		stage(r, "a")
		info(r, line("160000", strings.Repeat("1", objectformat.HexSize), "sub"))
	}},
	{"long names", func(r *gittest.Repo) {
		stage(r, "f", "g")
		for _, n := range []int{4093, 4094, 4095, 4096, 4097, 9000} {
			stage(r, "d/"+strings.Repeat("n", n-2))
		}
	}},
	{"deep", func(r *gittest.Repo) { stage(r, strings.Repeat("d/", 500)+"f", strings.Repeat("d/", 499)+"g") }},
	{"intent to add", func(r *gittest.Repo) {
		stage(r, "a", "d/f", "z")
		for _, p := range []string{"b", "d/e", "d/g", "empty/x", "empty/y/z"} {
			r.Write(p, "new\n")
			r.Git("add", "-N", p)
		}
	}},
	{"nothing but intent to add", func(r *gittest.Repo) {
		r.Write("a/b", "new\n")
		r.Git("add", "-N", "a/b")
	}},
	{"skip-worktree and assume-unchanged", func(r *gittest.Repo) {
		stage(r, "a", "b/c", "d")
		r.Git("update-index", "--skip-worktree", "b/c")
		r.Git("update-index", "--assume-unchanged", "d")
	}},
	{"changed below a cached tree", func(r *gittest.Repo) {
		stage(r, "a/b/c", "a/b/d", "a/e/f", "g/h", "i")
		r.Git("write-tree")
		stage(r, "a/b/new")
	}},
	{"removed below a cached tree", func(r *gittest.Repo) {
		stage(r, "a/b/c", "a/b/d", "a/e/f", "g/h", "i")
		r.Git("write-tree")
		r.Git("rm", "-q", "--cached", "a/e/f", "a/b/d")
	}},
	{"directory becomes a file", func(r *gittest.Repo) {
		stage(r, "a/b/c", "a/d", "e")
		r.Git("write-tree")
		r.Git("update-index", "--add", "--replace", "--cacheinfo", "100644,"+r.Hash("x")+",a/b")
	}},
	{"file becomes a directory", func(r *gittest.Repo) {
		stage(r, "a/b", "a/d", "e")
		r.Git("write-tree")
		r.Git("update-index", "--replace", "--add", "--cacheinfo", "100644,"+r.Hash("x")+",a/b/c/d")
	}},
	{"children of many lengths", func(r *gittest.Repo) {
		// The cache-tree sorts them by length first.
		stage(r, "b/1", "aa/1", "c/1", "ba/1", "aaa/1", "a/1", "a/2/3", "a.b/1")
		r.Git("write-tree")
		stage(r, "c/2")
	}},
	{"resolved conflict", func(r *gittest.Repo) {
		stage(r, "a", "d/f")
		one, two := r.Hash("1"), r.Hash("2")
		r.Git("update-index", "--force-remove", "d/c")
		info(r, unmerged("1", one, "d/c"), unmerged("2", two, "d/c"))
		r.Write("d/c", "resolved\n")
		r.Git("add", "d/c")
	}},
	{"untracked cache", func(r *gittest.Repo) {
		stage(r, "a", "d/f")
		r.Git("update-index", "--untracked-cache")
		r.Git("status")
		stage(r, "d/g")
	}},
	{"file system monitor", func(r *gittest.Repo) {
		stage(r, "a", "d/f")
		r.Git("-c", "core.fsmonitor=.git/monitor", "update-index", "--fsmonitor")
	}},
	{"no checksum", func(r *gittest.Repo) {
		stage(r, "a", "d/f")
		r.Git("config", "index.skipHash", "true") // git 2.40
		stage(r, "b")
		zeroTrailer(r)
	}},
}

func TestWriteTreeEqualsGit(t *testing.T) {
	t.Parallel()
	for _, c := range treeCases {
		t.Run(c.name, func(t *testing.T) {
			r := gittest.New(t)
			c.arrange(r)
			sameTree(t, r)
			for _, version := range []string{"4", "3", "2"} {
				r.Git("update-index", "--index-version", version, "--force-write-index")
				sameTree(t, r)
			}
			c.arrange(r)
			sameTree(t, r)
		})
	}
}

// With more than 20,000 files, git writes blocks of entries and an extension that lists
// them.
func TestWriteTreeOfManyFiles(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	r := gittest.New(t)
	r.Git("config", "index.threads", "4")
	r.Generate(30_000)
	for _, version := range []string{"4", "2"} {
		r.Git("update-index", "--index-version", version, "--force-write-index")
		r.Stage(30_000, 7, 1)
		data, err := os.ReadFile(r.GitPath("index"))
		require.NoError(t, err)
		require.Contains(t, string(data), "IEOT")
		require.Contains(t, string(data), "EOIE")
		sameTree(t, r)
	}
}

// stage adds files to the index, with their paths as contents.
func stage(r *gittest.Repo, names ...string) {
	lines := make([]string, len(names))
	for i, n := range names {
		lines[i] = line("100644", r.Hash(n), n)
	}
	info(r, lines...)
}

func zeroTrailer(r *gittest.Repo) {
	data := r.Read(".git/index")
	if err := os.WriteFile(r.Path(".git/index"), []byte(data[:len(data)-objectformat.Size]+strings.Repeat("\x00", objectformat.Size)), 0o644); err != nil {
		panic(err)
	}
}
