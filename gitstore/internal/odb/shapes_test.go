package odb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/testing/gittest"
	"git-checkpoint/gitstore/testing/odbtest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// grow adds commits and an unreachable blob.
func grow(r *gittest.Repo, commits int) {
	for i := range commits {
		r.Write("f.txt", strings.Repeat(fmt.Sprintf("line %d of %s\n", i, r.Dir), 50+i))
		r.Write(fmt.Sprintf("d/%d.txt", i), fmt.Sprint(i))
		r.Git("add", "-A")
		r.Commit(fmt.Sprint("commit ", i))
	}
	r.Hash(fmt.Sprint("unreachable ", commits))
}

// shapes contains git's storage formats for objects. Each function converts a repository
// with loose objects.
var shapes = map[string]func(t *testing.T, r *gittest.Repo){
	"loose":  func(*testing.T, *gittest.Repo) {},
	"packed": func(_ *testing.T, r *gittest.Repo) { r.Git("gc", "-q"); grow(r, 2) },
	"loose-objects": func(_ *testing.T, r *gittest.Repo) {
		maintain(r, "loose-objects", 2)
		grow(r, 2)
		maintain(r, "loose-objects", 1)
	},
	"incremental-repack": func(_ *testing.T, r *gittest.Repo) {
		for range 3 {
			maintain(r, "loose-objects", 1)
			maintain(r, "incremental-repack", 1)
			grow(r, 2)
		}
	},
	"geometric": func(_ *testing.T, r *gittest.Repo) {
		for range 3 {
			r.Git("repack", "-q", "-d", "--geometric=2")
			grow(r, 2)
		}
		r.Git("repack", "-q", "-d", "--geometric=2", "--write-midx")
	},
	"multi-pack index, unreachable loosened": func(_ *testing.T, r *gittest.Repo) {
		r.Git("repack", "-q", "-d")
		grow(r, 2)
		r.Git("repack", "-q", "-d")
		r.Git("multi-pack-index", "write")
		r.Git("repack", "-q", "-A", "-d")
	},
	"multi-pack index with bitmaps": func(_ *testing.T, r *gittest.Repo) {
		r.Git("repack", "-q", "-d")
		grow(r, 2)
		r.Git("repack", "-q", "-d")
		r.Git("multi-pack-index", "write", "--bitmap")
	},
	"cruft": func(t *testing.T, r *gittest.Repo) {
		optional(t, r, "repack", "-q", "--cruft", "-d")
		grow(r, 2)
		optional(t, r, "repack", "-q", "--cruft", "-d")
	},
	"incremental multi-pack index": func(t *testing.T, r *gittest.Repo) {
		for range 3 {
			r.Git("repack", "-q", "-d")
			optional(t, r, "multi-pack-index", "write", "--incremental")
			grow(r, 1)
		}
	},
	"kept and unfinished": func(_ *testing.T, r *gittest.Repo) {
		r.Git("repack", "-q", "-a", "-d")
		names, _ := filepath.Glob(r.GitPath("objects/pack/*.pack"))
		r.Write(strings.TrimPrefix(strings.TrimSuffix(names[0], ".pack"), r.Dir+"/")+".keep", "by a test\n")
		grow(r, 2)
		r.Git("repack", "-q", "-a", "-d")
		r.Write(".git/objects/pack/tmp_pack_x", "PACK")
		r.Write(".git/objects/pack/pack-1.idx", "an index without its pack")
		r.Write(".git/objects/12/tmp_obj_x", "half an object")
	},
	"duplicates": func(_ *testing.T, r *gittest.Repo) {
		r.Git("repack", "-q", "-a")
		grow(r, 1)
		r.Git("repack", "-q", "-a")
	},
	"alternates of alternates": func(t *testing.T, r *gittest.Repo) {
		middle := r.In(filepath.Join(r.Dir, "..", filepath.Base(r.Dir)+"-middle"))
		lender := r.In(filepath.Join(r.Dir, "..", filepath.Base(r.Dir)+"-lender"))
		for _, other := range []*gittest.Repo{middle, lender} {
			require.NoError(t, os.Mkdir(other.Dir, 0o777))
			t.Cleanup(func() { os.RemoveAll(other.Dir) })
			other.Git("init", "-q")
			other.Git("config", "user.name", gittest.Name)
			other.Git("config", "user.email", gittest.Email)
			grow(other, 2)
		}
		lender.Git("repack", "-q", "-a", "-d")
		middle.Write(".git/objects/info/alternates", "# relative\n../../../"+filepath.Base(lender.Dir)+"/.git/objects\n")
		r.Write(".git/objects/info/alternates", `"`+middle.GitPath("objects")+"\"\n/not/there\n")
	},
}

// maintain runs a task of git maintenance.
func maintain(r *gittest.Repo, task string, times int) {
	for range times {
		r.Git("maintenance", "run", "--task="+task)
	}
}

// optional runs a git command and skips the test if this version of git lacks it.
func optional(t *testing.T, r *gittest.Repo, args ...string) {
	t.Helper()
	if _, err := r.Run(nil, args...); err != nil {
		t.Skipf("git %s: %v", strings.Join(args, " "), err)
	}
}

func TestReadsEveryShapeAsGitDoes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	for name, arrange := range shapes {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			grow(r, 6)
			arrange(t, r)
			same(t, r.GitPath(""))
		})
	}
}

// A partial clone has promisor packs, and the reader finds all objects that git lists.
func TestReadsMatchGitInPartialClone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	for _, filter := range []string{"blob:none", "tree:0"} {
		t.Run(filter, func(t *testing.T) {
			r := gittest.New(t)
			grow(r, 4)
			r.Git("config", "uploadpack.allowFilter", "true")
			clone := r.In(r.Dir + "-clone")
			t.Cleanup(func() { os.RemoveAll(clone.Dir) })
			r.Git("clone", "-q", "--filter="+filter, "file://"+r.Dir, clone.Dir)
			clone.Git("repack", "-q", "-a", "-d")
			same(t, clone.GitPath(""))
		})
	}
}

// Reads of an open database succeed while git adds and removes packs.
func TestReadsWhileGitRepacks(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	r := gittest.New(t)
	grow(r, 20)
	s, err := odb.Open(odb.Config{Dir: r.GitPath("objects")})
	require.NoError(t, err)
	defer s.Close()
	listed := strings.Fields(r.Git("rev-list", "--objects", "--no-object-names", "HEAD"))
	stop := make(chan struct{})
	done := make(chan error)
	go func() {
		for {
			for _, h := range listed {
				if _, _, err := s.Read(plumbing.NewHash(h)); err != nil {
					done <- fmt.Errorf("%s: %w", h, err)
					return
				}
			}
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
		}
	}()
	for range 3 {
		maintain(r, "loose-objects", 2)
		r.Git("repack", "-q", "-a", "-d")
		maintain(r, "incremental-repack", 1)
		r.Git("repack", "-q", "-a", "-d", "-f")
	}
	close(stop)
	require.NoError(t, <-done)
}

// Git does not read a pack without its index file, even if a multi-pack index exists.
func TestPackWithoutIndexIsIgnoredDespiteMultiPackIndex(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	grow(r, 3)
	r.Git("repack", "-q", "-a", "-d")
	r.Git("multi-pack-index", "write")
	h := r.Git("rev-parse", "HEAD")
	names, err := filepath.Glob(r.GitPath("objects/pack/*.idx"))
	require.NoError(t, err)
	require.Len(t, names, 1)
	require.NoError(t, os.Remove(names[0]))
	_, err = r.Run(nil, "cat-file", "-e", h)
	require.Error(t, err)
}

// same compares the reader with git in a repository.
func same(t *testing.T, gitDir string) {
	t.Helper()
	c, err := odbtest.Compare(t.Context(), gitDir, 100_000)
	require.NoError(t, err)
	require.Empty(t, c.Refused)
	require.Empty(t, c.Differ)
	require.Positive(t, c.Objects)
	require.Equal(t, c.Objects, c.Contents)
}
