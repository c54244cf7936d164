package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/join"
	"git-checkpoint/gitstore/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// restoreOwnChain restores what plain git took from an issue's chain, by a forced
// fetch, a reset or a deletion of its ref: what this clone wrote last is joined
// with what is there now. A chain that only went on is left as it is, and so is
// one that cannot be read or is cut: whoever asked for it says so.
//
// It notes the values that it has compared, for checkCompared. It fails if a ref
// cannot be moved, with errRefMoved if another process moved it first.
func (s *Store) restoreOwnChain(ctx context.Context, i checkpoint.Issue) error {
	return s.repairOwn(ctx, i, true)
}

// repairOwn is restoreOwnChain. Unless deleted is set it leaves a deleted ref alone: a
// save restores it with its own move, see chainToSaveOn.
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
	case last.stands(live): // also if history is cut: the ref was set back
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

// restoreRef restores a chain's ref that was deleted, which is a zero live, or set back.
// The chain itself may be cut or damaged: a new one in its place would take the name of
// the old one.
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

// chainToSaveOn returns the newest part of an issue's chain, for a save. If the
// chain's ref was deleted, that is the chain at own/, and the save's move creates
// the ref again. A process that deletes the ref all the time cannot keep a save
// from its end: there is no move that it could undo between the two.
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

// isLost reports whether a commit is missing or damaged. It fails if the operating
// system could not read it: it may be there.
func (s *Store) isLost(commit plumbing.Hash) (bool, error) {
	_, err := s.readCommit(commit)
	var errno syscall.Errno
	if errors.As(err, &errno) && errno != syscall.ENOENT {
		return false, err
	}
	return err != nil, nil
}

// repaired is the reflog message of a repair.
const repaired = "repair: what other means had taken"

// checkCompared fails with errRefMoved if a chain's ref and own/ are not at the values
// that restoreOwnChain has compared. Another process has moved one of them since: a
// move of own/ from there would forget what this clone had saved.
func (s *Store) checkCompared(c *chain, own plumbing.Hash) error {
	if s.compared[c.issue] != (comparedRefs{c.tip, own}) {
		return fmt.Errorf("%w: %s is at %s", errRefMoved, LiveRef(c.issue), c.tip)
	}
	return nil
}

// lookedAt is how many checkpoints are read to see that a chain only went on.
const lookedAt = 200

// repairIfRewritten is restoreOwnChain for readers. It costs reading one ref if
// nothing is wrong, and nothing under the issue lock, which begins with it.
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

// isAheadOf reports whether the chain at live contains a commit not far down.
func (s *Store) isAheadOf(i checkpoint.Issue, live, on plumbing.Hash) bool {
	if live.IsZero() {
		return false
	}
	c, err := s.walk(i, LiveRef(i), live, lookedAt)
	return err == nil && c.stands(on)
}

// restoreDeletedRefs brings back the chains whose refs are gone, and adds them to
// the names of those that are there, in their order.
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

// has reports whether there is a ref.
func (s *Store) has(ctx context.Context, ref string) bool {
	hash, err := s.readRef(ctx, ref)
	return err == nil && !hash.IsZero()
}

// mergeInto merges last into now, the issue's chain.
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

// An unjoinableError says that two chains cannot be joined.
type unjoinableError struct{ error }

func (e *unjoinableError) Unwrap() error { return e.error }

// archiveLeaving returns the move of the archive's ref that takes in what leaves
// chains for the archive by their joined state, nil if nothing does.
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

// whole reports whether a chain was read down to its beginning.
func (c *chain) whole() bool { return c.rooted && !c.cut }
