package restore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/fsutil/filelock"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// Pending reports whether an operation in this worktree was killed and can be finished or
// reverted. The lock file is empty if the last operation has ended, which saves the look at all
// entries.
func (s *Restorer) Pending(ctx context.Context) bool {
	if info, err := os.Stat(s.lockFile()); err != nil || info.Size() == 0 {
		return false
	}
	e, err := s.log.Unfinished(ctx)
	return (err != nil || e != nil) && !s.IsUnderWay()
}

// StaleIndexLock returns a killed restore's index lock path, or "".
func (s *Restorer) StaleIndexLock() string {
	if a := s.worktree().lockedIndexFiles(); a.isStale() && !s.IsUnderWay() {
		return a.file + ".lock"
	}
	return ""
}

// IsUnderWay reports whether a process restores files in this worktree.
func (s *Restorer) IsUnderWay() bool { return filelock.IsHeld(s.lockFile()) }

func (s *Restorer) lockFile() string { return filepath.Join(s.repo.StateDir(), "restore.lock") }

// worktreeWait is the time that a restore waits for the lock of another restore. If a
// restore is killed while starting git, its child process holds the lock until the exec
// call.
const worktreeWait = 3 * time.Second

// lockWorktree prevents two restores in one worktree at the same time.
func (s *Restorer) lockWorktree() (release func(), err error) {
	if err := s.repo.CheckWorktree(); err != nil {
		return nil, err
	}
	if err := s.repo.Objects.MakeDirs(s.repo.StateDir()); err != nil {
		return nil, err
	}
	f, err := filelock.Open(s.lockFile(), os.O_CREATE)
	if err != nil {
		return nil, err
	}
	s.repo.Objects.Share(s.lockFile())
	if err := f.Wait(context.Background(), worktreeWait); err != nil {
		f.Close()
		if errors.Is(err, filelock.ErrHeld) {
			err = &repo.RefusedError{Reason: "another restore is under way in this worktree"}
		}
		return nil, err
	}
	_, _ = f.WriteString("pending\n") // a full disk does not stop an undo
	return func() {
		if !s.log.Unsettled {
			_ = f.Truncate(0)
		}
		f.Close()
	}, nil
}

// Operate runs f as one operation on the worktree, which no other operation on it interrupts. It
// first settles an operation that was killed.
func (s *Restorer) Operate(ctx context.Context, o operation.Start, f func() error) error {
	if s.log.Current() != nil {
		return f()
	}
	release, err := s.lockWorktree()
	if err != nil {
		return err
	}
	defer release()
	if _, err := s.settle(ctx); err != nil {
		return err
	}
	if err := s.worktree().sweep(); err != nil {
		return err
	}
	o.Files = true
	return s.log.Run(ctx, o, f)
}

// SettlePending settles an operation that was killed in this worktree, before another one begins.
func (s *Restorer) SettlePending(ctx context.Context) error {
	if s.log.Current() != nil || !s.Pending(ctx) {
		return nil
	}
	release, err := s.lockWorktree()
	if err != nil {
		return err
	}
	defer release()
	_, err = s.settle(ctx)
	return err
}

// settle settles the operation that a killed command left in this worktree, and returns its entry,
// or nil. The caller holds the worktree lock.
func (s *Restorer) settle(ctx context.Context) (*operation.Entry, error) {
	e, err := s.unfinished(ctx, s.finishOrAbort)
	if err == nil || e == nil || errors.As(err, new(*repo.RefusedError)) || errors.As(err, new(*repo.CorruptError)) {
		return e, err
	}
	return e, &repo.RefusedError{
		Reason: fmt.Sprintf("the interrupted %s cannot be finished: %v", name(e), err),
		Hint:   "git checkpoint restore --abort",
	}
}

// unfinished calls act with the entry of a killed operation, if there is one, and returns the entry.
func (s *Restorer) unfinished(ctx context.Context, act func(context.Context, *operation.Entry) (*Outcome, error)) (*operation.Entry, error) {
	e, err := s.log.Unfinished(ctx)
	if err != nil || e == nil {
		return nil, err
	}
	if _, err = act(ctx, e); errors.Is(err, plumbing.ErrObjectNotFound) {
		err = operation.Damaged(e.Name(), err)
	}
	return e, err
}

func name(e *operation.Entry) string {
	if e.Way != operation.Do {
		return string(e.Way) + " of the " + e.Command
	}
	if e.Checkpoint != "" {
		return e.Command + " of " + string(e.Checkpoint)
	}
	return e.Command
}

// finishOrAbort finishes a killed undo or redo, and an operation whose refs have moved. It reverts the
// files of other operations.
func (s *Restorer) finishOrAbort(ctx context.Context, e *operation.Entry) (*Outcome, error) {
	if e.Way == operation.Do && len(e.Moves) == 0 {
		return s.abort(ctx, e)
	}
	return s.finish(ctx, e)
}

// finish takes the steps of an undo, of a redo or of a killed operation to their end, and ends the entry.
// Paths that an undo has reverted stay.
func (s *Restorer) finish(ctx context.Context, e *operation.Entry) (*Outcome, error) {
	if e.Way == operation.Redo {
		s.moveHead(ctx, e)
	}
	outcome, err := s.take(ctx, e, e.Way)
	if err != nil {
		return outcome, err
	}
	if e.Way != operation.Do {
		if err := s.complete(ctx, e, len(outcome.Skipped) > 0); err != nil {
			return outcome, &failure.DoneError{Err: err}
		}
		return outcome, nil
	}
	// The paths that the restore left are not in the entry.
	if err := s.chain.SetHere(ctx, e.Issues[0], &chain.Here{}, s.repo.NewObjectWriter()); err != nil {
		s.repo.Notify("a later merge may compare this worktree with a former checkpoint: %v", err)
	}
	return outcome, s.log.Finish(ctx, e)
}

// abort reverts the files of a killed operation. If some of them have changed since, the entry
// keeps their former content.
func (s *Restorer) abort(ctx context.Context, e *operation.Entry) (*Outcome, error) {
	done, err := s.take(ctx, e, operation.Undo)
	if err != nil {
		return done, fmt.Errorf("revert the %s: %w", name(e), err)
	}
	if len(done.Skipped) == 0 {
		return done, s.log.Forget(ctx, e)
	}
	e.Way, e.UndoneAt, e.UndoneOn = operation.Undo, s.repo.Now().UTC(), e.Before
	return done, s.log.Finish(ctx, e)
}

// Continue finishes a killed operation, and reports whether there was one. It also removes
// temporary files of a restore that was killed at its end.
func (s *Restorer) Continue(ctx context.Context) (bool, error) { return s.resolve(ctx, s.finish) }

// Abort reverts a killed operation, and reports whether there was one. An undo or a redo is
// finished, and so is an operation whose refs have moved.
func (s *Restorer) Abort(ctx context.Context) (bool, error) { return s.resolve(ctx, s.finishOrAbort) }

// resolve calls act with the entry of a killed operation, if there is one.
func (s *Restorer) resolve(ctx context.Context, act func(context.Context, *operation.Entry) (*Outcome, error)) (bool, error) {
	release, err := s.lockWorktree()
	if err != nil {
		return false, err
	}
	defer release()
	e, err := s.unfinished(ctx, act)
	return e != nil || err != nil, errors.Join(err, s.worktree().sweep())
}
