package chain

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

func (c *Chain) state() join.State {
	s := join.State{Members: make(map[join.Member]join.Checkpoint, len(c.Commits)), Ledger: c.Ledger}
	for i := range c.Commits {
		l := &c.Commits[i]
		if _, twice := s.Members[l.Member()]; l.Ledger || l.ID == "" || twice {
			continue
		}
		s.Members[l.Member()] = l.entry()
	}
	return s
}

// AsChain converts a chain into the type of package join.
func (c *Chain) AsChain() join.Chain {
	if c.Tip.IsZero() {
		return join.Chain{State: c.state()}
	}
	return join.Chain{Tip: c.Tip.String(), State: c.state()}
}

func (l *ChainCommit) entry() join.Checkpoint {
	return join.Checkpoint{Clock: l.Clock, After: l.After}
}

// isIn reports whether a state has the checkpoint of the commit, as the commit has it.
func (l *ChainCommit) isIn(s join.State) bool {
	c, ok := s.Members[l.Member()]
	return ok && !l.Ledger && c == l.entry()
}

// MergeChains merges chains of one issue. The result is one of the chains, or a new chain
// in k that starts with the bottom part of the first chain.
func (s *Chains) MergeChains(k *repo.ObjectWriter, chains ...*Chain) (tip plumbing.Hash, want join.State, rebuilt bool, err error) {
	want, as, err := s.merge(chains...)
	switch {
	case err != nil:
		return plumbing.ZeroHash, want, false, err
	case as >= 0:
		return chains[as].Tip, want, false, nil
	case len(want.Members) == 0 && want.Ledger.IsEmpty():
		return plumbing.ZeroHash, want, false, nil
	}
	return s.withLedger(chains[0].Issue, s.rebuildMerged(want, chains, k), want.Ledger, k), want, true, nil
}

// merge returns the merged state of chains, and the index of the first chain that has this state, or
// -1. It fails if a merge would lose an unknown commit.
func (s *Chains) merge(chains ...*Chain) (want join.State, as int, err error) {
	list, err := s.joinable(chains)
	if err != nil {
		return want, -1, err
	}
	want, as = join.Merge(list...)
	return want, as, checkAllReadable(chains, as)
}

// joinable converts chains whose contents may meet into the type of package join.
func (s *Chains) joinable(chains []*Chain) ([]join.Chain, error) {
	list := make([]join.Chain, len(chains))
	err := s.Identify(chains...)
	for n, c := range chains {
		list[n] = c.AsChain()
	}
	return list, err
}

// checkAllReadable fails if a merge would lose an unknown commit. chains[as] must contain
// every unknown commit. If as is -1, the merge creates a new chain, which contains no
// unknown commit.
func checkAllReadable(chains []*Chain, as int) error {
	for _, c := range chains {
		if l := c.UnknownCommit(); l != nil && (as < 0 || !chains[as].ContainsCommit(l.Raw.Hash)) {
			err := repo.Corrupt(c.Ref, "commit %s is unreadable: %s; the chain cannot be joined with another chain", l.Raw.Hash, l.Problem)
			if c.Remote != "" {
				err = &repo.CorruptError{Object: ShownRemote(c.Remote), Err: err, Hint: LookThere(c.Remote, c.Ref)}
			}
			return err
		}
	}
	return nil
}

// UnknownCommit returns a commit that this version cannot parse, or nil. A later version
// of this program may have made it.
func (c *Chain) UnknownCommit() *ChainCommit {
	for i := range c.Commits {
		if c.Commits[i].ID == "" && !c.Commits[i].Ledger {
			return &c.Commits[i]
		}
	}
	return nil
}

// rebuildMerged makes a chain of wanted checkpoints from commits of several chains. The
// bottom part, below the first difference, comes from the first chain that has a tip. If
// no chain has a tip, the result starts at genesis: commits without a tip are not a
// chain, and their parents differ.
func (s *Chains) rebuildMerged(want join.State, chains []*Chain, k *repo.ObjectWriter) plumbing.Hash {
	from := map[join.Member]*ChainCommit{}
	base := &Chain{Issue: chains[0].Issue, Ref: chains[0].Ref, Rooted: true}
	for _, c := range chains {
		if base.Tip.IsZero() && !c.Tip.IsZero() {
			base = c
		}
		for i := range c.Commits {
			if l := &c.Commits[i]; l.isIn(want) {
				from[l.Member()] = l
			}
		}
	}
	order := want.Order()
	links, known := base.prefix(order, want)
	for _, m := range order[known:] {
		links = append(links, *from[m])
	}
	slices.Reverse(links)
	return s.Rebuild(base, links, k)
}

// prefix returns the bottom commits of a chain that match order, oldest first, and the
// number of checkpoints among them.
func (c *Chain) prefix(order []join.Member, want join.State) (links []ChainCommit, known int) {
	for _, l := range slices.Backward(c.Commits) {
		switch {
		case l.Ledger:
		case known < len(order) && l.Member() == order[known] && l.isIn(want):
			known++
		default:
			return links, known
		}
		links = append(links, l)
	}
	return links, known
}

// withLedger adds a ledger commit to a chain if the tip's ledger differs.
func (s *Chains) withLedger(i checkpoint.Issue, tip plumbing.Hash, l *ledger.Ledger, k *repo.ObjectWriter) plumbing.Hash {
	if bytes.Equal(l.Encode(), s.ledgerAt(tip, k)) {
		return tip
	}
	tree := []trees.Entry{}
	if !l.IsEmpty() {
		tree = append(tree, trees.Entry{Mode: trees.ModeFile, Name: "ledger", Hash: k.Add(plumbing.BlobObject, l.Encode())})
	}
	message := fmt.Sprintf("%s%s\n\n%s: %s\n%s: %s\n",
		LedgerSubject, i.RefName(), trailerIssue, i.RefName(), trailerVersion, checkpoint.Version)
	return k.AddCommit(s.repo.NewCommit(k.AddTree(tree), s.repo.Now(), s.repo.Now(), message, tip))
}

// A Relation is the result of a comparison of the local chain with the remote chain.
type Relation int

const (
	RelationSame     Relation = iota
	RelationBehind            // the remote chain accounts for all local checkpoints, and has more
	RelationAhead             // the local chain accounts for all remote checkpoints, and has more
	RelationDiverged          // neither
)

// Relate compares two chains of one issue. After a rewrite by retention, a drop or an
// archival, a chain still accounts for the other chain if its ledger explains the missing
// checkpoints. Before a chain replaces the other one, its newly archived checkpoints must
// be in the archive too.
func (s *Chains) Relate(ours, theirs *Chain) Relation {
	switch {
	case ours.Tip == theirs.Tip:
		return RelationSame
	case ours.Tip.IsZero() || theirs.ContainsCommit(ours.Tip):
		return RelationBehind
	case theirs.Tip.IsZero() || ours.ContainsCommit(theirs.Tip):
		return RelationAhead
	}
	if !ours.Whole() || !theirs.Whole() {
		return RelationDiverged
	}
	switch _, as, err := s.merge(ours, theirs); {
	case as < 0 || err != nil:
		return RelationDiverged
	case as == 0:
		return RelationAhead
	}
	return RelationBehind
}

// Equal reports whether two complete chains encode the same state.
func (s *Chains) Equal(a, b *Chain) bool {
	if !a.Whole() || !b.Whole() || s.Identify(a, b) != nil {
		return a.Tip == b.Tip
	}
	x, y := join.MergeStates(a.state()), join.MergeStates(b.state())
	return maps.Equal(x.Members, y.Members) && x.Ledger.Equal(y.Ledger)
}

// ContainsCommit reports whether a chain contains a commit.
func (c *Chain) ContainsCommit(on plumbing.Hash) bool {
	if on == Genesis(c.Issue).Hash {
		return c.Rooted
	}
	return slices.ContainsFunc(c.Commits, func(l ChainCommit) bool { return l.Raw.Hash == on })
}

// CountMissingFrom returns the number of checkpoints of c that o lacks, without those that
// are gone.
func (c *Chain) CountMissingFrom(o *Chain) int {
	known, n := o.Index(), 0
	for i := range c.Commits {
		if c.isListed(i) && known[c.Commits[i].ID] == nil {
			n++
		}
	}
	return n
}
