package remote

import (
	"context"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A site is a repository whose refs and commits are read with git.
type site struct {
	*gittest.Repo
	cut bool
}

func (s *site) here() Here {
	return Here{Git: git.Git{Dir: s.Dir}.With(s.Env()...), Refs: s, History: s}
}

func (s *site) Values(_ context.Context, prefixes ...string) (map[string]plumbing.Hash, error) {
	values := map[string]plumbing.Hash{}
	for line := range strings.Lines(s.Git(append([]string{"for-each-ref", "--format=%(refname) %(objectname)"}, prefixes...)...)) {
		name, hex, _ := strings.Cut(strings.TrimSpace(line), " ")
		values[name] = plumbing.NewHash(hex)
	}
	return values, nil
}

func (s *site) Delete(_ context.Context, seen map[string]plumbing.Hash) error {
	for name := range seen {
		s.Git("update-ref", "-d", name)
	}
	return nil
}

func (s *site) Note(context.Context, []string) func(error) { return func(error) {} }

func (s *site) Cut() bool                    { return s.cut }
func (s *site) IsGenesis(plumbing.Hash) bool { return false }
func (s *site) Came(context.Context) error   { return nil }

func (s *site) Parents(hash plumbing.Hash) (parents []plumbing.Hash, err error) {
	out, err := s.Run(nil, "rev-parse", hash.String()+"^@")
	for hex := range strings.FieldsSeq(string(out)) {
		parents = append(parents, plumbing.NewHash(hex))
	}
	return parents, err
}

// saved adds a checkpoint of HEAD with parent on.
func (s *site) saved(on string) string {
	tree := s.Git("rev-parse", "HEAD^{tree}")
	index := s.Git("commit-tree", "-m", "index", "-p", "HEAD", tree)
	return s.Git("commit-tree", "-m", "checkpoint", "-p", on, "-p", index, tree)
}

// TestSavedHeads reads the HEADs of an extended, a rewritten and a new chain.
func TestSavedHeads(t *testing.T) {
	t.Parallel()
	s := &site{Repo: gittest.New(t)}
	s.Commit("first")
	at := s.Git("commit-tree", "-m", "genesis", s.Git("rev-parse", "HEAD^{tree}"))
	genesis, tips, heads := at, []plumbing.Hash{}, []string{}
	for range 4 {
		heads = append(heads, s.Commit("another"))
		at = s.saved(at)
		tips = append(tips, plumbing.NewHash(at))
	}
	s.Git("checkout", "-q", "--detach", "HEAD~3")
	rewritten := s.saved(genesis)
	s.Git("checkout", "-q", "-")
	rewritten = s.saved(rewritten)
	elsewhere := plumbing.NewHash(strings.Repeat("11", objectformat.Size))
	h := s.here()
	for name, c := range map[string]struct {
		tip, seen plumbing.Hash
		want      []string
	}{
		"new":                  {tips[3], plumbing.ZeroHash, heads},
		"goes on":              {tips[3], tips[1], heads[2:]},
		"rewritten":            {plumbing.NewHash(rewritten), tips[3], []string{heads[0], heads[3]}},
		"the same":             {tips[2], tips[2], nil},
		"older":                {tips[1], tips[3], nil},
		"on what was not seen": {tips[1], elsewhere, heads[:2]},
	} {
		got, err := h.savedHeads([]RefUpdate{{"refs/x", c.tip, c.seen}})
		require.NoError(t, err, name)
		assert.ElementsMatch(t, c.want, got, name)
	}
	_, err := h.savedHeads([]RefUpdate{{"refs/x", elsewhere, plumbing.ZeroHash}})
	require.Error(t, err)
}
