package gitstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// settleInterrupted deals with the transactions of processes that were killed, by
// the notes in the lock's files. A transaction is done when the last of its chains and
// archives has moved. One that was killed before that is rolled back, so that
// the command can be given again; the other refs are bookkeeping and follow. The
// note of an undo that is done stays until Undo has reported on it, or another
// transaction begins: the person does not know that it was done.
func (s *Store) settleInterrupted(ctx context.Context) error {
	s.finished = nil
	for _, n := range s.issueLock.Interrupted() {
		if err := s.settleNote(ctx, n); err != nil {
			return fmt.Errorf("settle the interrupted %q: %w", n.Message, err)
		}
		if s.isFinished(n) && strings.HasPrefix(n.Message, undoPrefix) {
			s.issueLock.Keep(n)
			continue
		}
		s.issueLock.Settled(n.Issue)
	}
	return nil
}

// isFinished reports whether a transaction is among those that are done.
func (s *Store) isFinished(n refs.Note) bool {
	return slices.ContainsFunc(s.finished, func(o refs.Note) bool { return o.Issue == n.Issue })
}

// settleNote completes a transaction or rolls it back.
func (s *Store) settleNote(ctx context.Context, n refs.Note) error {
	at, err := s.progressOf(ctx, n.Moves)
	if err != nil {
		return nil // a broken ref is what other commands and doctor report
	}
	switch {
	case at.elsewhere || len(at.moved) == 0: // nothing was done, or another process went on
		return nil
	case at.chainsLeft && !strings.HasPrefix(n.Message, refs.RollbackPrefix):
		return s.rollBackMoves(ctx, n, at.moved)
	case len(at.left) > 0 && s.haveAll(at.left):
		if err := s.moveRefs(ctx, n.Message, at.left...); err != nil {
			return err
		}
	}
	if !at.chainsLeft {
		s.finished = append(s.finished, n)
	}
	return nil
}

// A progress is how far a transaction came.
type progress struct {
	moved, left []refs.Move
	chainsLeft  bool // a chain or an archive is among those left
	elsewhere   bool // a chain or an archive is at neither value
}

// progressOf compares the moves of a transaction with the refs.
func (s *Store) progressOf(ctx context.Context, moves []refs.Move) (progress, error) {
	var p progress
	for _, m := range moves {
		now, err := s.readRef(ctx, m.Name)
		if err != nil {
			return p, err
		}
		chain := strings.HasPrefix(m.Name, liveRefs) || strings.HasPrefix(m.Name, archiveRefs)
		switch {
		case m.Old == m.New:
		case now == m.New:
			p.moved = append(p.moved, m)
		case now == m.Old:
			p.left = append(p.left, m)
			p.chainsLeft = p.chainsLeft || chain
		case chain:
			p.elsewhere = true
		}
	}
	return p, nil
}

// rollBackMoves takes back the moves that were done, the last one first.
func (s *Store) rollBackMoves(ctx context.Context, n refs.Note, moved []refs.Move) error {
	var back []refs.Move
	for i := len(moved) - 1; i >= 0; i-- {
		back = append(back, refs.Move{Name: moved[i].Name, Old: moved[i].New, New: moved[i].Old})
	}
	if !s.haveAll(back) {
		return nil
	}
	if err := s.moveRefs(ctx, shorten(refs.RollbackPrefix+n.Message), back...); err != nil {
		return err
	}
	s.notify("issue %s: %q was interrupted, and is rolled back", shownIssue(n.Issue), n.Message)
	return nil
}

// haveAll reports whether the commits are there to which refs are going to move.
func (s *Store) haveAll(moves []refs.Move) bool {
	for _, m := range moves {
		if m.New != plumbing.ZeroHash && !s.objects.Has(m.New) {
			return false
		}
	}
	return true
}

// shownIssue is the issue that a ref's name stands for.
func shownIssue(name string) string {
	if i, err := checkpoint.IssueFromRef(name); err == nil {
		return string(i)
	}
	return name
}

// noticeInterrupted is settleInterrupted for a process that only reads. It costs
// one system call if nothing was interrupted.
func (s *Store) noticeInterrupted(ctx context.Context, i checkpoint.Issue) {
	if s.issueLock == nil && s.refDir().IsInterrupted(i.RefName()) {
		_ = s.withIssueLock(ctx, i, func() error { return nil })
	}
}

// SettleInterrupted completes or rolls back what was interrupted in any issue, as
// the next command of each issue does.
func (s *Store) SettleInterrupted(ctx context.Context) error {
	for _, name := range s.refDir().Interrupted() {
		if err := s.withNamedLocks(ctx, []string{name}, func() error { return nil }); err != nil {
			return err
		}
	}
	return nil
}
