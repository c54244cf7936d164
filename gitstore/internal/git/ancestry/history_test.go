package ancestry

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
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
		"apart":       {main, side, Relation{Base: base, Gone: 2, Ahead: 2}},
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
	r, _, _, main, side := newLog(t)
	dir := filepath.Join(t.TempDir(), "clone")
	for depth, unknown := range map[int]bool{1: true, 3: false} {
		at := dir + strconv.Itoa(depth)
		r.Git("clone", "-q", "--no-single-branch", "--depth", strconv.Itoa(depth), "file://"+r.Dir, at)
		_, err := Log{Git: git.Git{Dir: at}, Shallow: true}.Relate(t.Context(), main, side)
		assert.Equal(t, unknown, err != nil, depth)
	}
}

// Versions returns what commits gave to a path, also by a merge, and that a path was deleted.
func TestVersionsOfAPath(t *testing.T) {
	t.Parallel()
	r, l, base, main, _ := newLog(t)
	r.Git("checkout", "-q", "main")
	r.Git("mv", "picked", "moved")
	r.Git("commit", "-qm", "moved")
	r.Git("merge", "-q", "--no-ff", "-m", "merged", "side")
	blob := plumbing.NewHash(r.Git("rev-parse", main+":picked"))
	added, deleted := Version{0o100644, blob}, Version{}
	found, err := l.Versions(t.Context(), "main", base, []string{"picked", "base"})
	require.NoError(t, err)
	assert.Equal(t, map[string]map[Version]bool{"picked": {added: true, deleted: true}, "base": {}}, found)
	found, err = l.Versions(t.Context(), base, "", []string{"picked", "base"})
	require.NoError(t, err)
	assert.Len(t, found["base"], 1)
	assert.Empty(t, found["picked"])
	renames, err := l.Renames(t.Context(), main, "main^")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"picked": "moved"}, renames)
}

func TestRenamesOfFiles(t *testing.T) {
	t.Parallel()
	text := func(name string, edits ...int) string {
		var lines []string
		for n := range 20 {
			lines = append(lines, name+" line "+strconv.Itoa(n))
		}
		for _, n := range edits {
			lines[n] = "edited by hand " + strconv.Itoa(n)
		}
		return strings.Join(lines, "\n") + "\n"
	}
	for name, c := range map[string]struct {
		now  map[string]string // contents of new paths, after a and b are deleted
		want map[string]string
	}{
		"one":                              {map[string]string{"z": text("a")}, map[string]string{"a": "z"}},
		"edited":                           {map[string]string{"z": text("a", 3)}, map[string]string{"a": "z"}},
		"two":                              {map[string]string{"z": text("a"), "y": text("b", 3)}, map[string]string{"a": "z", "b": "y"}},
		"a copy":                           {map[string]string{"z": text("a"), "y": text("a")}, map[string]string{}},
		"a copy that is less similar":      {map[string]string{"z": text("a"), "y": text("a", 3)}, map[string]string{"a": "z"}},
		"the copy comes last":              {map[string]string{"y": text("a"), "z": text("a", 3)}, map[string]string{"a": "y"}},
		"two that are as similar":          {map[string]string{"z": text("a", 3), "y": text("a", 4)}, map[string]string{}},
		"an ambiguous one and a clear one": {map[string]string{"z": text("a"), "y": text("a"), "x": text("b")}, map[string]string{"b": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			r.Write("a", text("a"))
			r.Write("b", text("b"))
			r.Write("kept", "kept\n")
			r.Git("add", ".")
			r.Commit("before")
			before := r.Git("rev-parse", "HEAD")
			r.Git("rm", "-q", "a", "b")
			for path, data := range c.now {
				r.Write(path, data)
			}
			r.Git("add", ".")
			r.Commit("now")
			got, err := Log{Git: git.Git{Dir: r.Dir}}.Renames(t.Context(), before, "HEAD")
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}
