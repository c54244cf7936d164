package gitstore

import (
	"bytes"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// state returns a chain's checkpoints and ledger.
func (c *chain) state() join.State {
	s := join.State{Checkpoints: make(map[checkpoint.ID]join.Checkpoint, len(c.commits)), Ledger: c.ledger}
	for i := range c.commits {
		l := &c.commits[i]
		if _, twice := s.Checkpoints[l.ID]; l.ledger || l.ID == "" || twice {
			continue
		}
		s.Checkpoints[l.ID] = l.content()
	}
	return s
}

// asChain converts a chain into the type of package join.
func (c *chain) asChain() join.Chain {
	if c.tip.IsZero() {
		return join.Chain{State: c.state()}
	}
	return join.Chain{Tip: c.tip.String(), State: c.state()}
}

func (l *chainCommit) content() join.Checkpoint {
	return join.Checkpoint{Clock: l.Clock, Tree: l.Tree.String()}
}

// mergeChains merges chains of one issue. The result is one of the chains, or a new chain
// in k that starts with the bottom part of the first chain.
func (s *Store) mergeChains(k *objectWriter, chains ...*chain) (tip plumbing.Hash, want join.State, rebuilt bool, err error) {
	list := make([]join.Chain, len(chains))
	for n, c := range chains {
		list[n] = c.asChain()
	}
	want, as := join.Merge(list...)
	switch err := checkAllReadable(chains, as); {
	case err != nil:
		return plumbing.ZeroHash, want, false, err
	case as >= 0:
		return chains[as].tip, want, false, nil
	case len(want.Checkpoints) == 0 && want.Ledger.IsEmpty():
		return plumbing.ZeroHash, want, false, nil
	}
	return s.withLedger(chains[0].issue, s.rebuildMerged(want, chains, k), want.Ledger, k), want, true, nil
}

// checkAllReadable fails if a merge would lose an unknown commit. chains[as] must contain
// every unknown commit. If as is -1, the merge creates a new chain, which contains no
// unknown commit.
func checkAllReadable(chains []*chain, as int) error {
	for _, c := range chains {
		if l := c.unknownCommit(); l != nil && (as < 0 || !chains[as].stands(l.commit.hash)) {
			err := corrupt(c.ref, "commit %s is not understood: %s; so the chain can't be joined with another", l.commit.hash, l.Problem)
			if c.remote != "" {
				err = &CorruptError{Object: ShownRemote(c.remote), Err: err, Hint: lookThere(c.remote, c.ref)}
			}
			return err
		}
	}
	return nil
}

// unknownCommit returns a commit that this version cannot parse, or nil. A later version
// of this program may have made it.
func (c *chain) unknownCommit() *chainCommit {
	for i := range c.commits {
		if c.commits[i].ID == "" && !c.commits[i].ledger {
			return &c.commits[i]
		}
	}
	return nil
}

// rebuildMerged makes a chain of wanted checkpoints from commits of several chains. The
// bottom part, below the first difference, comes from the first chain that has a tip. If
// no chain has a tip, the result starts at genesis: commits without a tip are not a
// chain, and their parents differ.
func (s *Store) rebuildMerged(want join.State, chains []*chain, k *objectWriter) plumbing.Hash {
	from := map[checkpoint.ID]*chainCommit{}
	base := &chain{issue: chains[0].issue, ref: chains[0].ref, rooted: true}
	for _, c := range chains {
		k.reach(c.tip)
		if base.tip.IsZero() && !c.tip.IsZero() {
			base = c
		}
		for i := range c.commits {
			if l := &c.commits[i]; l.content() == want.Checkpoints[l.ID] {
				from[l.ID] = l
			}
		}
	}
	order := want.Order()
	links, known := base.prefix(order, want)
	for _, id := range order[known:] {
		k.reach(from[id].commit.hash)
		links = append(links, *from[id])
	}
	slices.Reverse(links)
	return s.rebuild(base, links, k)
}

// prefix returns the bottom commits of a chain that match order, oldest first, and the
// number of checkpoints among them.
func (c *chain) prefix(order []checkpoint.ID, want join.State) (links []chainCommit, known int) {
	for _, l := range slices.Backward(c.commits) {
		switch {
		case l.ledger:
		case known < len(order) && l.ID == order[known] && l.content() == want.Checkpoints[l.ID]:
			known++
		default:
			return links, known
		}
		links = append(links, l)
	}
	return links, known
}

// withLedger adds a ledger commit to a chain if the tip's ledger differs.
func (s *Store) withLedger(i checkpoint.Issue, tip plumbing.Hash, l *ledger.Ledger, k *objectWriter) plumbing.Hash {
	if bytes.Equal(l.Encode(), s.ledgerAt(tip, k)) {
		return tip
	}
	tree := []trees.Entry{}
	if !l.IsEmpty() {
		tree = append(tree, trees.Entry{Mode: trees.ModeFile, Name: "ledger", Hash: k.Add(plumbing.BlobObject, l.Encode())})
	}
	return k.addCommit(s.ledgerCommit(i, k.addTree(tree), tip))
}
