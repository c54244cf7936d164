package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// RestoreOwnChain restores checkpoints that plain git removed from an issue's chain by a
// forced fetch, a reset or a deletion of the ref. It merges the chain that this clone
// wrote last with the current chain. Extended chains stay unchanged. Unreadable or
// shallow chains stay unchanged too: the caller's own read reports the error.
//
// It records the compared values for MovesTo. It fails if a ref move fails, with
// ErrRefMoved if another process was faster.
func (s *Chains) RestoreOwnChain(ctx context.Context, i checkpoint.Issue) error {
	return s.RepairOwn(ctx, i, true)
}

// RepairOwn is RestoreOwnChain with an option. If deleted is false, it does not restore a
// deleted ref: a save recreates the ref with its own move, see ChainToSaveOn.
func (s *Chains) RepairOwn(ctx context.Context, i checkpoint.Issue, deleted bool) error {
	live, err := s.repo.ReadRef(ctx, repo.LiveRef(i))
	if err != nil {
		return nil
	}
	own, err := s.ownTip(ctx, i)
	if err != nil || own == live || own.IsZero() {
		return nil
	}
	if live.IsZero() {
		lost, err := s.isLost(own)
		switch {
		case err != nil:
			return fmt.Errorf("read %s: %w", repo.OwnRef(i), err)
		case lost:
			s.repo.Compared[i] = repo.ComparedRefs{Live: live, Own: own}
		case deleted:
			return s.RestoreRef(ctx, i, live, own)
		}
		return nil
	}
	s.repo.Compared[i] = repo.ComparedRefs{Live: live, Own: own}
	now, err := s.Walk(i, repo.LiveRef(i), live, 0)
	if err != nil || now.ContainsCommit(own) {
		return nil
	}
	last, err := s.Walk(i, repo.OwnRef(i), own, 0)
	switch {
	case err != nil:
		return nil
	case last.ContainsCommit(live): // also in a shallow clone: the ref was set back
		return s.RestoreRef(ctx, i, live, own)
	case !now.Whole() || !last.Whole():
		return nil
	}
	back, err := s.mergeInto(ctx, now, last)
	var done *repo.DoneError
	var apart *unjoinableError
	switch {
	case errors.As(err, &done):
		s.repo.Notify("issue %s: %s was changed outside git-checkpoint; its checkpoints of this clone are restored, but: %v", i, repo.LiveRef(i), done.Err)
	case errors.As(err, &apart):
		s.repo.Notify("issue %s: %s was changed outside git-checkpoint, and its checkpoints of this clone cannot be restored: %v", i, repo.LiveRef(i), err)
	case err != nil:
		return fmt.Errorf("restore checkpoints that were removed from %s outside git-checkpoint: %w", repo.LiveRef(i), err)
	case back:
		s.NotifyRestored(i)
	}
	return nil
}

// RestoreRef restores a chain ref that was deleted (live is zero) or set back. The old
// value may be shallow or damaged, but a new chain in its place would take over the name
// of the old chain.
func (s *Chains) RestoreRef(ctx context.Context, i checkpoint.Issue, live, own plumbing.Hash) error {
	moves := []refs.Move{{Name: repo.LiveRef(i), Old: live, New: own}}
	last, err := s.repo.ReadRef(ctx, repo.OwnRef(i))
	if err == nil {
		if last.IsZero() { // deleted together with the chain
			moves = append(moves, refs.Move{Name: repo.OwnRef(i), New: own})
		}
		err = s.repo.MoveRefs(ctx, repaired, moves...)
	}
	switch {
	case err == nil || repo.IsDone(err):
	case live.IsZero():
		return fmt.Errorf("restore %s, which was deleted outside git-checkpoint: %w", repo.LiveRef(i), err)
	default:
		return fmt.Errorf("restore checkpoints that were removed from %s outside git-checkpoint: %w", repo.LiveRef(i), err)
	}
	s.NotifyRestored(i)
	return nil
}

// NotifyRestored reports that checkpoints were restored to an issue's chain.
func (s *Chains) NotifyRestored(i checkpoint.Issue) {
	s.repo.Notify("issue %s: %s was changed outside git-checkpoint; its checkpoints of this clone are restored", i, repo.LiveRef(i))
}

// ChainToSaveOn returns the newest part of an issue's chain for a save. If the chain ref
// was deleted, this is the chain at own/, and the save recreates the ref. A single move
// suffices for both. So a process that repeatedly deletes the ref cannot block a save.
func (s *Chains) ChainToSaveOn(ctx context.Context, i checkpoint.Issue) (*Chain, error) {
	c, err := s.ReadChain(ctx, i, repo.LiveRef(i), 1)
	if err != nil || !c.Tip.IsZero() {
		return c, err
	}
	own, err := s.ownTip(ctx, i)
	if err != nil || own.IsZero() {
		return c, err
	}
	lost, err := s.isLost(own)
	if err != nil || lost {
		return c, err
	}
	c, err = s.Walk(i, repo.LiveRef(i), own, 1)
	if err == nil {
		c.Deleted = true
	}
	return c, err
}

// ownTip returns the tip that this clone gave an issue's chain last. If the refs of the
// chain and own/ were deleted together, it is read from a file.
func (s *Chains) ownTip(ctx context.Context, i checkpoint.Issue) (plumbing.Hash, error) {
	own, err := s.repo.ReadRef(ctx, repo.OwnRef(i))
	if err != nil || !own.IsZero() {
		return own, err
	}
	live, err := s.repo.ReadRef(ctx, repo.LiveRef(i))
	if err != nil || !live.IsZero() {
		return plumbing.ZeroHash, err
	}
	noted := s.repo.NotedOwn(i)
	if noted.IsZero() || !s.repo.Objects.Has(noted) { // a gc has deleted it
		return plumbing.ZeroHash, nil
	}
	return noted, nil
}

// isLost reports whether a commit is missing or damaged. It fails if the operating system
// could not read the commit, because the commit may exist.
func (s *Chains) isLost(commit plumbing.Hash) (bool, error) {
	_, err := s.repo.ReadCommit(commit)
	var errno syscall.Errno
	if errors.As(err, &errno) && errno != syscall.ENOENT {
		return false, err
	}
	return err != nil, nil
}

// repaired is the reflog message of repairs.
const repaired = "repair: what other means had taken"

// repairDepth is the number of checkpoints that isAheadOf reads.
const repairDepth = 200

// RepairIfRewritten prepares an issue for an operation that only reads: it runs
// RestoreOwnChain if the chain lacks the tip that this clone wrote last. If no repair is necessary, it costs the read of two refs. Under the
// issue lock it does nothing, because the lock holder has already repaired the chain. It
// reports errors with Notify, and the caller reads the chain as it is.
func (s *Chains) RepairIfRewritten(ctx context.Context, i checkpoint.Issue) {
	if s.repo.IssueLock != nil {
		return
	}
	own, err := s.ownTip(ctx, i)
	if err != nil || own.IsZero() {
		return
	}
	live, err := s.repo.ReadRef(ctx, repo.LiveRef(i))
	if err != nil || live == own {
		return
	}
	if !live.IsZero() {
		if c, err := s.Walk(i, repo.LiveRef(i), live, repairDepth); err == nil && c.ContainsCommit(own) {
			return // the chain has grown
		}
	}
	for range repo.Collections {
		err := s.repo.WithIssueLock(ctx, i, func() error { return s.RestoreOwnChain(ctx, i) })
		if errors.Is(err, repo.ErrRefMoved) {
			continue
		}
		if err != nil {
			s.repo.Notify("issue %s: %v", i, err)
		}
		return
	}
}

// RestoreDeletedRefs restores deleted chain refs, and reports whether it restored any.
// existing are the issues that Issues has found, sorted by ref.
func (s *Chains) RestoreDeletedRefs(ctx context.Context, existing []checkpoint.Issue) bool {
	if s.repo.IssueLock != nil || s.repo.Info.RefFormat != "files" {
		return false
	}
	own, err := s.repo.Refs.Names(ctx, repo.OwnRefs)
	if err != nil {
		return false
	}
	for _, i := range s.repo.NotedIssues() {
		own = append(own, repo.OwnRef(i))
	}
	slices.Sort(own)
	restored, k := false, 0
	for _, name := range slices.Compact(own) {
		key := strings.TrimPrefix(name, repo.OwnRefs)
		for k < len(existing) && existing[k].RefName() < key {
			k++
		}
		i, err := checkpoint.IssueFromRef(key)
		if err != nil || k < len(existing) && existing[k] == i {
			continue
		}
		s.RepairIfRewritten(ctx, i)
		restored = restored || s.HasChain(ctx, i)
	}
	return restored
}

// mergeInto merges last into now, the issue's current chain, and reports whether refs
// moved.
func (s *Chains) mergeInto(ctx context.Context, now, last *Chain) (bool, error) {
	k := s.repo.NewObjectWriter()
	tip, want, _, err := s.MergeChains(k, now, last)
	if err != nil {
		return false, &unjoinableError{err}
	}
	if tip == now.Tip && len(want.Ledger.IDs(ledger.Archived)) == 0 {
		return false, nil
	}
	archived, err := s.archiveLeaving(ctx, k, want, now, last)
	if err != nil {
		return false, &unjoinableError{err}
	}
	if tip == now.Tip && len(archived) == 0 {
		return false, nil
	}
	moves := func() ([]refs.Move, error) {
		moves, err := s.MovesTo(ctx, now, tip)
		return slices.Concat(archived, moves), err
	}
	doubles, note := s.Doubles(now.Issue, want, last, now)
	if err := note(); err != nil {
		return false, err
	}
	if err := s.repo.Move(ctx, k, repaired, moves); err != nil {
		return false, err
	}
	for _, text := range WarnDoubles(now.Issue, doubles) {
		s.repo.Notify("%s", text)
	}
	return true, k.Protect(ctx)
}

// An unjoinableError reports that two chains cannot be merged.
type unjoinableError struct{ error }

func (e *unjoinableError) Unwrap() error { return e.error }

// archiveLeaving returns the move of the archive ref for checkpoints that the merged
// state moves from chains to the archive. It returns nil if there are no such
// checkpoints.
func (s *Chains) archiveLeaving(ctx context.Context, k *repo.ObjectWriter, want join.State, chains ...*Chain) ([]refs.Move, error) {
	i := chains[0].Issue
	here, err := s.ReadChain(ctx, i, repo.ArchiveRef(i), 0)
	if err != nil {
		return nil, err
	}
	if err := s.Identify(append(slices.Clone(chains), here)...); err != nil {
		return nil, err
	}
	moving := MovingTo(here, want.Ledger, chains...)
	switch {
	case len(moving.Commits) == 0:
		return nil, nil
	case !here.Whole():
		return nil, here.ReadOnly()
	}
	_, kept := join.MergeArchives(want, join.Chain{}, here.AsChain(), moving.AsChain())
	tip, err := s.PickArchive(k, kept, here, moving)
	return (&ArchivePlan{Here: here, Tip: tip}).Move(i), err
}

// Settle returns the tip of c without the commits that its ledger marks as removed, and
// the move of the archive ref for checkpoints of c and of former that the ledger marks as
// archived. A shallow clone archives and drops with a ledger commit alone, so its commits
// stay until a complete clone settles the chain.
func (s *Chains) Settle(ctx context.Context, k *repo.ObjectWriter, c, former *Chain) (plumbing.Hash, []refs.Move, error) {
	if c.Unread != nil {
		return c.Tip, nil, nil
	}
	tip, want, _, err := s.MergeChains(k, c)
	if err != nil { // an unknown commit, which must stay
		return c.Tip, nil, nil
	}
	archived, err := s.archiveLeaving(ctx, k, want, c, former)
	return tip, archived, err
}

// Whole reports whether a chain was read down to genesis.
func (c *Chain) Whole() bool { return c.Rooted && !c.Cut }
