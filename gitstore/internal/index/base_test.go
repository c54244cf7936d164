package index

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asked records the objects that WriteTree checks.
type asked map[plumbing.Hash]bool

func (a asked) Has(h plumbing.Hash) bool {
	a[h] = true
	return true
}

// baseOf returns a tree of a repository as a Base.
func baseOf(r *gittest.Repo, tree string) Base {
	return Base{plumbing.NewHash(tree), func(h plumbing.Hash) ([]byte, error) {
		out, err := r.Run(nil, "cat-file", "tree", h.String())
		return []byte(out), err
	}}
}

// With a base, WriteTree returns the same tree and checks only objects that the base
// lacks at the same path.
func TestWriteTreeSkipsChecksOfBaseObjects(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	names := []string{"a", "a.b", "a/b", "a0", "d/e/f", "d/e/g", "d/e.x", "d/g", "h", "h-", "h/i", "z"}
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		r := gittest.New(t)
		fill(r, rng, names)
		base := r.Git("write-tree")
		inBase := places(r, base)
		fill(r, rng, names)
		want := r.Git("write-tree")
		for _, cached := range []bool{true, false} {
			x := openWay(t, r.GitPath("index"), "read")
			if !cached {
				x.cache = cacheTree{}
			}
			x.Base = baseOf(r, base)
			have, made := asked{}, sink{}
			got, err := x.WriteTree(have, made)
			require.NoError(t, err)
			require.Equal(t, want, got.String(), "round %d", round)
			for place := range places(r, want) {
				switch hash := place.hash; {
				case inBase[place]:
					assert.False(t, have[hash] && !elsewhere(r, want, inBase, hash), "round %d: asked for %s", round, place.path)
				case !cached && !place.tree:
					assert.True(t, have[hash], "round %d: did not ask for %s", round, place.path)
				}
			}
		}
	}
}

// An unreadable base counts as empty.
func TestUnreadableBaseIsEmpty(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	stage(r, "a", "d/e")
	want := r.Git("write-tree")
	for name, read := range map[string]func(plumbing.Hash) ([]byte, error){
		"error": func(plumbing.Hash) ([]byte, error) { return nil, errors.New("gone") },
		"cut":   func(plumbing.Hash) ([]byte, error) { return []byte("100644 a\x00cut"), nil },
		"no mode": func(plumbing.Hash) ([]byte, error) {
			return append([]byte("a\x00"), make([]byte, objectformat.Size)...), nil
		},
		"no end": func(plumbing.Hash) ([]byte, error) { return []byte("100644 a"), nil },
	} {
		t.Run(name, func(t *testing.T) {
			x := openWay(t, r.GitPath("index"), "read")
			x.cache = cacheTree{}
			x.Base = Base{plumbing.NewHash(want), read}
			have := asked{}
			got, err := x.WriteTree(have, sink{})
			require.NoError(t, err)
			assert.Equal(t, want, got.String())
			assert.Len(t, have, 2, "both files")
		})
	}
}

// fill stages a random subset of names with random contents and modes.
func fill(r *gittest.Repo, rng *rand.Rand, names []string) {
	r.Git("read-tree", "--empty")
	var lines []string
	taken := map[string]bool{}
	for _, i := range rng.Perm(len(names)) {
		name := names[i]
		if rng.IntN(4) == 0 || taken["a"] && name == "a/b" || taken["a/b"] && name == "a" || taken["h"] && name == "h/i" || taken["h/i"] && name == "h" {
			continue
		}
		taken[name] = true
		hash := r.Hash(fmt.Sprintf("%s %d", name, rng.IntN(2)))
		lines = append(lines, line([]string{"100644", "100755"}[rng.IntN(2)], hash, name))
	}
	info(r, lines...)
}

// A place is an entry of a tree with its path and mode.
type place struct {
	path, mode string
	hash       plumbing.Hash
	tree       bool
}

func places(r *gittest.Repo, tree string) map[place]bool {
	found := map[place]bool{}
	for l := range strings.Lines(r.Git("ls-tree", "-r", "-t", tree)) {
		var p place
		var kind, hash string
		_, _ = fmt.Sscanf(l, "%s %s %s\t%s", &p.mode, &kind, &hash, &p.path)
		p.hash, p.tree = plumbing.NewHash(hash), kind == "tree"
		found[p] = true
	}
	return found
}

// elsewhere reports whether a tree contains an object at a path at which the base lacks
// it. WriteTree may check such objects.
func elsewhere(r *gittest.Repo, tree string, inBase map[place]bool, hash plumbing.Hash) bool {
	for p := range places(r, tree) {
		if p.hash == hash && !inBase[p] {
			return true
		}
	}
	return false
}
