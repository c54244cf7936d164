package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// restoreOwnChain restores checkpoints that plain git removed from an issue's chain by a
// forced fetch, a reset or a deletion of the ref. It merges the chain that this clone
// wrote last with the current chain. Extended chains stay unchanged. Unreadable or
// shallow chains stay unchanged too: the caller's own read reports the error.
//
// It records the compared values for checkCompared. It fails if a ref move fails, with
// errRefMoved if another process was faster.
func (s *Store) restoreOwnChain(ctx context.Context, i checkpoint.Issue) error {
	return s.repairOwn(ctx, i, true)
}

// repairOwn is restoreOwnChain with an option. If deleted is false, it does not restore a
// deleted ref: a save recreates the ref with its own move, see chainToSaveOn.
func (s *Store) repairOwn(ctx context.Context, i checkpoint.Issue, deleted bool) error {
	live, err := s.readRef(ctx, LiveRef(i))
	if err != nil {
		return nil
	}
	own, err := s.readRef(ctx, ownRef(i))
	if err != nil || own == live || own.IsZero() {
		return nil
	}
	if live.IsZero() {
		lost, err := s.isLost(own)
		switch {
		case err != nil:
			return fmt.Errorf("read %s: %w", ownRef(i), err)
		case lost:
			s.compared[i] = comparedRefs{live, own}
		case deleted:
			return s.restoreRef(ctx, i, live, own)
		}
		return nil
	}
	s.compared[i] = comparedRefs{live, own}
	now, err := s.walk(i, LiveRef(i), live, 0)
	if err != nil || now.stands(own) {
		return nil
	}
	last, err := s.walk(i, ownRef(i), own, 0)
	switch {
	case err != nil:
		return nil
	case last.stands(live): // also in a shallow clone: the ref was set back
		return s.restoreRef(ctx, i, live, own)
	case !now.whole() || !last.whole():
		return nil
	}
	back, err := s.mergeInto(ctx, now, last)
	var done *DoneError
	var apart *unjoinableError
	switch {
	case errors.As(err, &done):
		s.notify("issue %s: %s was changed by other means; what this clone had saved there is back, but: %v", i, LiveRef(i), done.Err)
	case errors.As(err, &apart):
		s.notify("issue %s: %s was changed by other means, and what this clone had saved there can't be brought back: %v", i, LiveRef(i), err)
	case err != nil:
		return fmt.Errorf("restore what other means took from %s: %w", LiveRef(i), err)
	case back:
		s.tellBack(i)
	}
	return nil
}

// restoreRef restores a chain ref that was deleted (live is zero) or set back. The old
// value may be shallow or damaged, but a new chain in its place would take over the name
// of the old chain.
func (s *Store) restoreRef(ctx context.Context, i checkpoint.Issue, live, own plumbing.Hash) error {
	err := s.moveRefs(ctx, repaired, refs.Move{Name: LiveRef(i), Old: live, New: own})
	switch {
	case err == nil || isDone(err):
	case live.IsZero():
		return fmt.Errorf("restore %s, which was deleted by other means: %w", LiveRef(i), err)
	default:
		return fmt.Errorf("restore what other means took from %s: %w", LiveRef(i), err)
	}
	s.tellBack(i)
	return nil
}

func (s *Store) tellBack(i checkpoint.Issue) {
	s.notify("issue %s: %s was changed by other means; what this clone had saved there is back", i, LiveRef(i))
}

// chainToSaveOn returns the newest part of an issue's chain for a save. If the chain ref
// was deleted, this is the chain at own/, and the save recreates the ref. A single move
// suffices for both. So a process that repeatedly deletes the ref cannot block a save.
func (s *Store) chainToSaveOn(ctx context.Context, i checkpoint.Issue) (*chain, error) {
	c, err := s.readChain(ctx, i, LiveRef(i), 1)
	if err != nil || !c.tip.IsZero() {
		return c, err
	}
	own, err := s.readRef(ctx, ownRef(i))
	if err != nil || own.IsZero() {
		return c, err
	}
	lost, err := s.isLost(own)
	if err != nil || lost {
		return c, err
	}
	c, err = s.walk(i, LiveRef(i), own, 1)
	if err == nil {
		c.deleted = true
	}
	return c, err
}

// isLost reports whether a commit is missing or damaged. It fails if the operating system
// could not read the commit, because the commit may exist.
func (s *Store) isLost(commit plumbing.Hash) (bool, error) {
	_, err := s.readCommit(commit)
	var errno syscall.Errno
	if errors.As(err, &errno) && errno != syscall.ENOENT {
		return false, err
	}
	return err != nil, nil
}

// repaired is the reflog message of repairs.
const repaired = "repair: what other means had taken"

// checkCompared fails with errRefMoved if a chain ref and own/ do not have the values
// that restoreOwnChain compared. Another process has then moved one of them, and a move
// of own/ would lose saved checkpoints.
func (s *Store) checkCompared(c *chain, own plumbing.Hash) error {
	if s.compared[c.issue] != (comparedRefs{c.tip, own}) {
		return fmt.Errorf("%w: %s is at %s", errRefMoved, LiveRef(c.issue), c.tip)
	}
	return nil
}

// lookedAt is the number of checkpoints that isAheadOf reads.
const lookedAt = 200

// repairIfRewritten is restoreOwnChain for readers. If no repair is necessary, it costs
// the read of a ref. Under the issue lock it does nothing, because the lock holder has
// already repaired the chain.
func (s *Store) repairIfRewritten(ctx context.Context, i checkpoint.Issue) {
	s.noticeInterrupted(ctx, i)
	own, err := s.readRef(ctx, ownRef(i))
	if s.issueLock != nil || err != nil || own.IsZero() {
		return
	}
	live, err := s.readRef(ctx, LiveRef(i))
	if err != nil || live == own || s.isAheadOf(i, live, own) {
		return
	}
	for range collections {
		err := s.withIssueLock(ctx, i, func() error { return s.restoreOwnChain(ctx, i) })
		if errors.Is(err, errRefMoved) {
			continue
		}
		if err != nil {
			s.notify("issue %s: %v", i, err)
		}
		return
	}
}

// isAheadOf reports whether the newest part of the chain at live contains a commit.
func (s *Store) isAheadOf(i checkpoint.Issue, live, on plumbing.Hash) bool {
	if live.IsZero() {
		return false
	}
	c, err := s.walk(i, LiveRef(i), live, lookedAt)
	return err == nil && c.stands(on)
}

// restoreDeletedRefs restores deleted chain refs, and returns names with the restored
// refs added, sorted.
func (s *Store) restoreDeletedRefs(ctx context.Context, names []string) []string {
	own, err := refs.Stored(s.repo.CommonDir, ownRefs)
	if err != nil || s.repo.RefFormat != "files" || s.issueLock != nil {
		return names
	}
	there := make(map[string]bool, len(names))
	for _, name := range names {
		there[name] = true
	}
	for _, name := range own {
		live := liveRefs + strings.TrimPrefix(name, ownRefs)
		i, err := checkpoint.IssueFromRef(strings.TrimPrefix(name, ownRefs))
		if there[live] || err != nil {
			continue
		}
		there[live] = true
		if s.repairIfRewritten(ctx, i); s.has(ctx, live) {
			names = append(names, live)
		}
	}
	slices.Sort(names)
	return names
}

// has reports whether a ref exists.
func (s *Store) has(ctx context.Context, ref string) bool {
	hash, err := s.readRef(ctx, ref)
	return err == nil && !hash.IsZero()
}

// mergeInto merges last into now, the issue's current chain, and reports whether refs
// moved.
func (s *Store) mergeInto(ctx context.Context, now, last *chain) (bool, error) {
	k := s.newObjectWriter()
	tip, want, _, err := s.mergeChains(k, now, last)
	if err != nil {
		return false, &unjoinableError{err}
	}
	if tip == now.tip && len(want.Ledger.Archived) == 0 {
		return false, nil
	}
	archived, err := s.archiveLeaving(ctx, k, want, now, last)
	if err != nil {
		return false, &unjoinableError{err}
	}
	if tip == now.tip && len(archived) == 0 {
		return false, nil
	}
	moves := func() ([]refs.Move, error) {
		moves, err := s.movesTo(ctx, now, tip)
		return slices.Concat(archived, moves), err
	}
	if err := s.publish(ctx, k, repaired, moves); err != nil {
		return false, err
	}
	return true, k.protect(ctx)
}

// An unjoinableError reports that two chains cannot be merged.
type unjoinableError struct{ error }

func (e *unjoinableError) Unwrap() error { return e.error }

// archiveLeaving returns the move of the archive ref for checkpoints that the merged
// state moves from chains to the archive. It returns nil if there are no such
// checkpoints.
func (s *Store) archiveLeaving(ctx context.Context, k *objectWriter, want join.State, chains ...*chain) ([]refs.Move, error) {
	i := chains[0].issue
	here, err := s.readChain(ctx, i, ArchiveRef(i), 0)
	if err != nil {
		return nil, err
	}
	moving := movingTo(here, want.Ledger, chains...)
	switch {
	case len(moving.commits) == 0:
		return nil, nil
	case !here.whole():
		return nil, here.readOnly()
	}
	_, kept := join.MergeArchives(want, join.Chain{}, here.asChain(), moving.asChain())
	tip, err := s.pickArchive(k, kept, here, moving)
	return (&archivePlan{here: here, tip: tip}).move(i), err
}

// whole reports whether a chain was read down to genesis.
func (c *chain) whole() bool { return c.rooted && !c.cut }
