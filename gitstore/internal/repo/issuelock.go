package repo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// RefDir returns the repository folder with loose refs.
func (s *Repo) RefDir() refs.Dir { return refs.Dir{Path: s.Info.CommonDir, Share: s.Objects.Share} }

// WithIssueLock runs f with the issue locked. If locking fails, for example in a
// read-only repository, f runs without the lock.
func (s *Repo) WithIssueLock(ctx context.Context, issue checkpoint.Issue, f func() error) error {
	return s.WithIssueLocks(ctx, []checkpoint.Issue{issue}, f)
}

// WithIssueLocks runs f with several issues locked. A git of f inherits the locks. If there are
// more than MaxLocks, this process holds them, and git inherits the lock of bookkeeping refs,
// whose file has the note. Then WithIssueLocks fails unless all issues can be locked.
func (s *Repo) WithIssueLocks(ctx context.Context, issues []checkpoint.Issue, f func() error) error {
	names := make([]string, len(issues))
	for k, issue := range issues {
		names[k] = issue.RefName()
	}
	if len(names) <= MaxLocks {
		return s.WithNamedLocks(ctx, names, f)
	}
	locks := s.RefDir().Lock(ctx, names)
	defer locks.Unlock()
	if !locks.HeldAll() || len(locks.Interrupted()) > 0 {
		return errLockedElsewhere
	}
	return s.WithNamedLocks(ctx, []string{refs.Bookkeeping}, f)
}

// MaxLocks limits the issue locks that a git inherits, because each is an open file.
const MaxLocks = 100

var errLockedElsewhere = errors.New("an issue is locked by another process")

// WithNamedLocks runs f with several issues locked, by their names in refs.
func (s *Repo) WithNamedLocks(ctx context.Context, names []string, f func() error) error {
	if s.together != nil { // they are locked
		s.Compared = map[checkpoint.Issue]ComparedRefs{}
		if err := ctx.Err(); err != nil {
			return err
		}
		return f()
	}
	s.IssueLock = s.RefDir().Lock(ctx, names)
	s.Compared = map[checkpoint.Issue]ComparedRefs{}
	s.Refs.Release()
	defer func() {
		s.IssueLock.Unlock()
		s.IssueLock = nil
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.settleInterrupted(ctx); err != nil {
		return err
	}
	return f()
}

// ClearLock removes a lock file that a killed git left after since, unless a running git
// may hold it.
func (s *Repo) ClearLock(path string, since time.Time) { s.RefDir().ClearLock(path, since) }

// A ComparedRefs holds the values of a chain ref and of own/ that RestoreOwnChain has
// compared. The chain at live contains every readable checkpoint of the chain at own.
type ComparedRefs struct{ Live, Own plumbing.Hash }

// settleInterrupted completes or rolls back the transactions of killed processes, based
// on the notes in the lock files. A transaction is done when its last chain or archive
// ref has moved; its bookkeeping refs are then moved as well. A transaction that was
// killed earlier is rolled back, so that the user can repeat the command.
func (s *Repo) settleInterrupted(ctx context.Context) error {
	for _, n := range s.IssueLock.Interrupted() {
		if err := s.settleNote(ctx, n); err != nil {
			return fmt.Errorf("settle the interrupted %q: %w", n.Message, err)
		}
		s.IssueLock.Settled(n.Issue)
	}
	return nil
}

// settleNote completes a transaction or rolls it back.
func (s *Repo) settleNote(ctx context.Context, n refs.Note) error {
	at, err := s.progressOf(ctx, n.Moves)
	if err != nil {
		return nil // other commands and doctor report a broken ref
	}
	switch {
	case at.elsewhere || len(at.moved) == 0: // no ref has moved, or another process has continued
		return nil
	case at.chainsLeft && !strings.HasPrefix(n.Message, refs.RollbackPrefix):
		return s.rollBackMoves(ctx, n, at.moved)
	case len(at.left) > 0 && s.haveAll(at.left):
		return s.MoveRefs(ctx, n.Message, at.left...)
	}
	return nil
}

// A progress describes which moves of a transaction are done.
type progress struct {
	moved, left []refs.Move
	chainsLeft  bool // left contains a chain or an archive
	elsewhere   bool // a chain or an archive has neither the old nor the new value
}

// progressOf compares the moves of a transaction with the current refs.
func (s *Repo) progressOf(ctx context.Context, moves []refs.Move) (progress, error) {
	var p progress
	for _, m := range moves {
		now, err := s.ReadRef(ctx, m.Name)
		if err != nil {
			return p, err
		}
		chain := strings.HasPrefix(m.Name, LiveRefs) || strings.HasPrefix(m.Name, ArchiveRefs)
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

// rollBackMoves reverts completed moves, the last move first.
func (s *Repo) rollBackMoves(ctx context.Context, n refs.Note, moved []refs.Move) error {
	var back []refs.Move
	for i := len(moved) - 1; i >= 0; i-- {
		back = append(back, refs.Move{Name: moved[i].Name, Old: moved[i].New, New: moved[i].Old})
	}
	if !s.haveAll(back) {
		return nil
	}
	if err := s.MoveRefs(ctx, Shorten(refs.RollbackPrefix+n.Message), back...); err != nil {
		return err
	}
	shown := n.Issue
	if i, err := checkpoint.IssueFromRef(n.Issue); err == nil {
		shown = string(i)
	}
	s.Notify("issue %s: %q was interrupted, and is rolled back", shown, n.Message)
	return nil
}

// haveAll reports whether the new commits of all moves exist.
func (s *Repo) haveAll(moves []refs.Move) bool {
	for _, m := range moves {
		if m.New != plumbing.ZeroHash && !s.Objects.Has(m.New) {
			return false
		}
	}
	return true
}

// SettleIfInterrupted settles an interrupted transaction of an issue, for operations that
// only read. Without such a transaction it costs one system call. Under the issue lock it
// does nothing.
func (s *Repo) SettleIfInterrupted(ctx context.Context, i checkpoint.Issue) {
	if s.IssueLock == nil && s.RefDir().IsInterrupted(i.RefName()) {
		_ = s.WithIssueLock(ctx, i, func() error { return nil })
	}
}

// SettleInterrupted completes or rolls back the interrupted transactions of all issues.
// Otherwise the next command for an issue would do this.
func (s *Repo) SettleInterrupted(ctx context.Context) error {
	for _, name := range s.RefDir().Interrupted() {
		if err := s.WithNamedLocks(ctx, []string{name}, func() error { return nil }); err != nil {
			return err
		}
	}
	return nil
}
