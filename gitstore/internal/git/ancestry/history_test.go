package ancestry

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newLog returns a history with branches main and side from a base commit. main has two
// commits. side contains a new commit and a cherry-pick from main's first commit.
func newLog(t *testing.T) (r *gittest.Repo, l Log, base, main, side string) {
	t.Helper()
	r = gittest.New(t)
	add := func(name string) string {
		r.Write(name, name+"\n")
		r.Git("add", name)
		r.Commit(name)
		return r.Git("rev-parse", "HEAD")
	}
	base = add("base")
	picked := add("picked")
	main = add("more")
	r.Git("checkout", "-q", "-b", "side", base)
	add("own")
	r.Git("cherry-pick", picked)
	side = r.Git("rev-parse", "HEAD")
	return r, Log{Git: git.Git{Dir: r.Dir}}, base, main, side
}

func TestRelate(t *testing.T) {
	t.Parallel()
	r, l, base, main, side := newLog(t)
	r.Git("checkout", "-q", "--orphan", "other")
	r.Commit("alone")
	alone := r.Git("rev-parse", "HEAD")
	for name, c := range map[string]struct {
		before, now string
		want        Relation
	}{
		"the same":    {main, main, Relation{Contains: true}},
		"went on":     {base, main, Relation{Contains: true, Ahead: 2}},
		"went back":   {main, base, Relation{Base: base, Gone: 2}},
		"apart":       {main, side, Relation{Base: base, Gone: 2, Ahead: 2, Alike: 1}},
		"not related": {main, alone, Relation{Gone: 3, Ahead: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := l.Relate(t.Context(), c.before, c.now)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			contains, err := l.Contains(t.Context(), c.now, c.before)
			require.NoError(t, err)
			assert.Equal(t, c.want.Contains, contains)
		})
	}
	for name, kept := range map[string]struct {
		rewrite func()
		want    bool
	}{
		"squashed":            {func() { r.Git("reset", "-q", "--soft", base); r.Commit("squashed") }, true},
		"another file":        {func() { r.Write("z", "z"); r.Git("add", "z"); r.Git("commit", "-q", "--amend", "-m", "z") }, true},
		"other content":       {func() { r.Write("more", "z"); r.Git("commit", "-q", "-a", "--amend", "-m", "z") }, false},
		"a commit left out":   {func() { r.Git("reset", "-q", "--hard", "HEAD~2"); r.Git("commit", "-q", "--allow-empty", "-m", "z") }, false},
		"a root of all files": {func() { r.Git("checkout", "-q", "--orphan", "root"); r.Commit("root") }, true},
		"a root without one":  {func() { r.Git("checkout", "-q", "--orphan", "less"); r.Git("rm", "-q", "-f", "more"); r.Commit("less") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r.Git("checkout", "-q", "-f", "--detach", main)
			kept.rewrite()
			got, err := l.Relate(t.Context(), main, r.Git("rev-parse", "HEAD"))
			require.NoError(t, err)
			assert.False(t, got.Contains)
			assert.Equal(t, kept.want, got.Kept)
		})
	}
	_, err := l.Contains(t.Context(), main, strings.Repeat("12", objectformat.Size))
	require.Error(t, err)
	behind, err := l.Behind(t.Context(), base, "main", 1000)
	require.NoError(t, err)
	assert.Equal(t, 2, behind)
	behind, err = l.Behind(t.Context(), base, "main", 1)
	require.NoError(t, err)
	assert.Equal(t, 1, behind)
}

// If a shallow clone lacks the common ancestor, the relation of two commits is unknown.
func TestRelationInShallowCloneIsUnknown(t *testing.T) {
	t.Parallel()
	r, l, _, main, side := newLog(t)
	assert.False(t, l.Unknown(t.Context(), main, side))
	dir := filepath.Join(t.TempDir(), "clone")
	for depth, unknown := range map[int]bool{1: true, 3: false} {
		at := dir + strconv.Itoa(depth)
		r.Git("clone", "-q", "--no-single-branch", "--depth", strconv.Itoa(depth), "file://"+r.Dir, at)
		cut := Log{Git: git.Git{Dir: at}, Shallow: true}
		assert.Equal(t, unknown, cut.Unknown(t.Context(), main, side), depth)
		_, err := cut.Relate(t.Context(), main, side)
		assert.Equal(t, unknown, err != nil, depth)
	}
}
