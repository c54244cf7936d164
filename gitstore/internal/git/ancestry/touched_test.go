package ancestry

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newWork returns a repository with three files in their state at the save.
func newWork(t *testing.T) (r *gittest.Repo, saved string, commit func(files ...string)) {
	t.Helper()
	r, n := gittest.New(t), 0
	commit = func(files ...string) {
		n++
		for _, name := range files {
			r.Write(name, fmt.Sprint(name, n))
			r.Git("add", name)
		}
		r.Git("commit", "-q", "--allow-empty", "-m", fmt.Sprint(n))
	}
	commit("a", "b", "d/c")
	commit("b")
	return r, r.Git("rev-parse", "HEAD"), commit
}

func TestTouched(t *testing.T) {
	t.Parallel()
	revert := func(r *gittest.Repo) { r.Git("revert", "--no-edit", "HEAD") }
	for name, c := range map[string]struct {
		work func(r *gittest.Repo, commit func(...string))
		want []string
	}{
		"nothing":            {func(*gittest.Repo, func(...string)) {}, nil},
		"a commit":           {func(r *gittest.Repo, commit func(...string)) { commit("a", "d/c") }, []string{"a", "d/c"}},
		"one that went back": {func(r *gittest.Repo, commit func(...string)) { commit("d/c"); revert(r) }, []string{"d/c"}},
		"a merge of what went back": {func(r *gittest.Repo, commit func(...string)) {
			r.Git("checkout", "-q", "-b", "side", "HEAD^")
			commit("a")
			revert(r)
			r.Git("checkout", "-q", "main")
			r.Git("merge", "-q", "--no-ff", "-m", "merge", "side")
		}, []string{"a"}},
		"a merge of an older branch": {func(r *gittest.Repo, commit func(...string)) {
			r.Git("checkout", "-q", "-b", "side", "HEAD^")
			commit("a")
			r.Git("merge", "-q", "--no-ff", "-m", "merge", "main")
		}, []string{"a"}},
		"a merge that took the older side": {func(r *gittest.Repo, commit func(...string)) {
			r.Git("checkout", "-q", "-b", "side", "HEAD^")
			commit()
			r.Git("checkout", "-q", "main")
			r.Git("merge", "-q", "--no-ff", "--no-commit", "side")
			r.Git("checkout", "side", "--", "b")
			r.Git("commit", "-q", "-m", "merge")
			r.Git("checkout", "main^", "--", "b")
			r.Git("commit", "-q", "-m", "as before")
		}, []string{"b"}},
		"an amended commit": {func(r *gittest.Repo, commit func(...string)) {
			r.Write("a", "amended")
			r.Git("commit", "-q", "-a", "--amend", "-m", "amended")
		}, []string{"a"}},
		"an amended commit, then a revert": {func(r *gittest.Repo, commit func(...string)) {
			r.Write("a", "amended")
			r.Git("commit", "-q", "-a", "--amend", "-m", "amended")
			commit("b")
			revert(r)
		}, []string{"a", "b"}},
		"an amended message": {func(r *gittest.Repo, _ func(...string)) { r.Git("commit", "-q", "--amend", "-m", "other") }, nil},
		"a rebase": {func(r *gittest.Repo, commit func(...string)) {
			r.Git("checkout", "-q", "-b", "side", "HEAD^")
			commit("a")
			r.Git("cherry-pick", "main")
		}, []string{"a"}},
		"a rebase, then a revert": {func(r *gittest.Repo, commit func(...string)) {
			r.Git("checkout", "-q", "-b", "side", "HEAD^")
			commit("a")
			r.Git("cherry-pick", "main")
			revert(r)
		}, []string{"a", "b"}},
		"an older HEAD": {func(r *gittest.Repo, _ func(...string)) { r.Git("checkout", "-q", "HEAD^") }, nil},
		"a history of its own": {func(r *gittest.Repo, commit func(...string)) {
			r.Git("checkout", "-q", "--orphan", "other")
			r.Git("rm", "-q", "--cached", "b")
			commit("a")
		}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, saved, commit := newWork(t)
			c.work(r, commit)
			l := Log{Git: git.Git{Dir: r.Dir}}
			got, err := l.Touched(t.Context(), saved, r.Git("rev-parse", "HEAD"), []string{"a", "b", "d/c"})
			require.NoError(t, err)
			assert.Equal(t, c.want, slices.Sorted(maps.Keys(got)))
		})
	}
}

// If paths exceed the argument list limit, git lists all changed paths.
func TestTouchedManyPaths(t *testing.T) {
	t.Parallel()
	r, saved, commit := newWork(t)
	commit("a")
	paths := []string{"a"}
	for i := range 3000 {
		paths = append(paths, gittest.GeneratedPath(i))
	}
	l := Log{Git: git.Git{Dir: r.Dir}}
	got, err := l.Touched(t.Context(), saved, r.Git("rev-parse", "HEAD"), paths)
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"a": true}, got)

	// If the saved branch was unborn, all paths in its commits count as touched.
	got, err = l.Touched(t.Context(), "", saved, []string{"a", "none"})
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"a": true}, got)
}

func TestTouchedInAShallowClone(t *testing.T) {
	t.Parallel()
	r, saved, commit := newWork(t)
	commit("a")
	commit()
	now := r.Git("rev-parse", "HEAD")
	for depth, cut := range map[string]bool{"1": true, "2": true, "3": false} {
		clone := r.In(t.TempDir())
		clone.Git("clone", "-q", "--depth", depth, "file://"+r.Dir, clone.Dir)
		if cut {
			clone.Git("fetch", "-q", "--depth", "1", "origin", saved)
		}
		got, err := Log{Git: git.Git{Dir: clone.Dir}, Shallow: true}.Touched(t.Context(), saved, now, []string{"a", "b"})
		if cut {
			assert.ErrorIs(t, err, ErrCut, depth)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, map[string]bool{"a": true}, got)
	}
}
