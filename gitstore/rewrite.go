package gitstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A change describes how an operation changes an issue's chain.
type change struct {
	remove map[checkpoint.ID]bool
	insert []chainCommit          // placed by clock
	ledger func(l *ledger.Ledger) // nil if the ledger stays
	verb   string                 // start of the reflog message
	ids    []checkpoint.ID        // ids in the reflog message
	also   []refs.Move            // other refs of the same transaction, moved before the chain
	then   []refs.Move            // refs moved after the chain
}

// alter applies the change that decide returns to an issue's chain. If another process
// moves the ref first, alter starts again. A nil change does nothing. The object writer
// also receives objects of other chains in the same transaction.
func (s *Store) alter(ctx context.Context, issue checkpoint.Issue, decide func(c *chain, k *objectWriter) (*change, error)) error {
	try := func() error {
		c, err := s.readChain(ctx, issue, LiveRef(issue), 0)
		if err != nil {
			return err
		}
		if err := cmp.Or(c.unread, c.below()); err != nil {
			return err
		}
		k := s.newObjectWriter()
		ch, err := decide(c, k)
		if err != nil || ch == nil {
			return err
		}
		if c.cut && (c.has(ch.remove) || len(ch.insert) > 0) {
			return c.readOnly()
		}
		tip, err := s.apply(c, ch, k)
		if err != nil || tip == c.tip && len(ch.also)+len(ch.then) == 0 {
			return err
		}
		return s.commitChange(ctx, c, tip, ch, k)
	}
	if own, err := s.readRef(ctx, ownRef(issue)); err == nil && own.IsZero() && !s.HasIssue(ctx, issue) {
		return try() // no chain exists, so no lock is necessary
	}
	return s.retry(ctx, issue, func() error {
		if err := s.separateFirst(ctx, issue); err != nil {
			return err
		}
		return try()
	})
}

// readOnly returns the error for a change to a shallow chain.
func (c *chain) readOnly() error {
	return &RefusedError{Reason: fmt.Sprintf("%s: %v", c.ref, ErrReadOnly), Hint: "git fetch --unshallow"}
}

func (s *Store) commitChange(ctx context.Context, c *chain, tip plumbing.Hash, ch *change, k *objectWriter) error {
	moves := func() ([]refs.Move, error) {
		moves, err := s.movesTo(ctx, c, tip)
		return slices.Concat(ch.also, moves, ch.then), err
	}
	message := ch.verb + ": " + joinIDs(ch.ids)
	if err := s.publish(ctx, k, shorten(message), moves); err != nil {
		return err
	}
	return k.protect(ctx)
}

// apply builds the changed chain and returns its tip.
func (s *Store) apply(c *chain, ch *change, k *objectWriter) (plumbing.Hash, error) {
	for _, l := range ch.insert {
		k.reach(l.commit.hash)
	}
	links := slices.DeleteFunc(slices.Clone(c.commits), func(l chainCommit) bool { return ch.remove[l.ID] })
	links = merge(links, ch.insert)
	tip := s.rebuild(c, links, k)
	want := c.ledger
	if ch.ledger != nil {
		want = c.ledger.Clone()
		ch.ledger(want)
	}
	return s.withLedger(c.issue, tip, want, k), nil
}

// merge inserts more commits into the commits of a chain, newest first. The existing
// order of the chain stays, even if it contradicts the clocks.
func merge(links, more []chainCommit) []chainCommit {
	more = slices.SortedFunc(slices.Values(more), func(a, b chainCommit) int { return b.order(a) })
	merged := make([]chainCommit, 0, len(links)+len(more))
	for _, l := range links {
		for len(more) > 0 && !l.ledger && l.order(more[0]) < 0 {
			merged, more = append(merged, more[0]), more[1:]
		}
		merged = append(merged, l)
	}
	return append(merged, more...)
}

// order compares two commits by clock, then by id, oldest first.
func (l chainCommit) order(o chainCommit) int {
	return cmp.Or(cmp.Compare(l.Clock, o.Clock), cmp.Compare(l.ID, o.ID))
}

// rebuild makes a chain from commits, newest first, and returns its tip. The commits are
// from c, or new to it. The unchanged bottom part keeps its commits. Above it only
// parents change. Ledger commits in the changed part are omitted, because they are only
// history.
func (s *Store) rebuild(c *chain, links []chainCommit, k *objectWriter) plumbing.Hash {
	same := 0
	for same < min(len(links), len(c.commits)) &&
		links[len(links)-1-same].commit.hash == c.commits[len(c.commits)-1-same].commit.hash {
		same++
	}
	parent := s.bottom(c, k)
	if same > 0 {
		parent = links[len(links)-same].commit.hash
	}
	above := len(links) - same
	for i := above - 1; i >= 0; i-- {
		k.reportProgress(above-i, above)
		if links[i].ledger {
			continue
		}
		commit := links[i].commit
		parents := []plumbing.Hash{parent}
		if len(commit.parents) > 1 {
			parents = append(parents, commit.parents[1:]...)
		}
		commit.parents = parents
		parent = k.addCommit(commit)
	}
	return parent
}

// bottom returns the parent of the chain's oldest commit that was read.
func (s *Store) bottom(c *chain, k *objectWriter) plumbing.Hash {
	if n := len(c.commits); n > 0 && !c.rooted {
		if parents := c.commits[n-1].commit.parents; len(parents) > 0 {
			return parents[0]
		}
	}
	base := genesis(c.issue)
	if !s.objects.Has(base.hash) {
		k.Add(plumbing.TreeObject, nil)
		k.addCommit(base)
	}
	return base.hash
}

// ledgerAt returns the ledger in a commit's tree, or nil.
func (s *Store) ledgerAt(commit plumbing.Hash, k *objectWriter) []byte {
	data, err := trees.ReadAs(k, plumbing.CommitObject, commit)
	if err != nil {
		return nil
	}
	c, err := parseCommit(commit, data)
	if err != nil {
		return nil
	}
	entries, err := trees.Read(k, c.tree)
	if err != nil {
		return nil
	}
	e, ok := trees.Find(entries, "ledger")
	if !ok {
		return nil
	}
	data, err = trees.ReadAs(k, plumbing.BlobObject, e.Hash)
	if err != nil {
		return nil
	}
	return data
}

// movesTo returns the moves that set an issue's chain to tip: the chain ref, own/, and,
// if plain git fetched the previous chain, a ref that keeps it.
func (s *Store) movesTo(ctx context.Context, c *chain, tip plumbing.Hash) ([]refs.Move, error) {
	if tip == c.tip {
		return nil, nil
	}
	own, err := s.readRef(ctx, ownRef(c.issue))
	if err != nil {
		return nil, err
	}
	live := c.tip
	if c.deleted {
		live = plumbing.ZeroHash
	}
	moves := []refs.Move{{Name: LiveRef(c.issue), Old: live, New: tip}, {Name: ownRef(c.issue), Old: own, New: tip}}
	if own == c.tip {
		return moves, nil
	}
	if c.deleted {
		return nil, fmt.Errorf("%w: %s is at %s", errRefMoved, ownRef(c.issue), own)
	}
	if !own.IsZero() {
		if err := s.checkCompared(c, own); err != nil {
			return nil, err
		}
	}
	if c.tip.IsZero() {
		return moves, nil
	}
	fetched, err := s.readRef(ctx, fetchedRef(c.issue))
	if err != nil {
		return nil, err
	}
	if fetched != c.tip {
		moves = append(moves, refs.Move{Name: fetchedRef(c.issue), Old: fetched, New: c.tip})
	}
	return moves, nil
}
