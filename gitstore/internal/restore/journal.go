package restore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/fsutil/filelock"
	"git-checkpoint/gitstore/internal/repo"
)

// journal returns the journal's path. The journal names the safety snapshot of the
// worktree's current restore. While the journal exists, the restore is not finished.
func (s *Restorer) journal() string { return filepath.Join(s.repo.StateDir(), "restore") }

func (s *Restorer) removeJournal() error { return fsutil.IgnoreMissing(os.Remove(s.journal())) }

// Pending reports whether a restore in this worktree was killed and can be finished or
// aborted.
func (s *Restorer) Pending(ctx context.Context) bool {
	sf, err := s.pending(ctx)
	return (err != nil || sf != nil) && !s.IsUnderWay()
}

// StaleIndexLock returns a killed restore's index lock path, or "".
func (s *Restorer) StaleIndexLock() string {
	if lock := s.site(nil).Stale(); lock != "" && !s.IsUnderWay() {
		return lock
	}
	return ""
}

// IsUnderWay reports whether a process restores files in this worktree.
func (s *Restorer) IsUnderWay() bool {
	f, err := os.OpenFile(s.lockFile(), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return !filelock.Try(f)
}

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
	f, err := os.OpenFile(s.lockFile(), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	s.repo.Objects.Share(s.lockFile())
	if !filelock.Try(f) && !filelock.Wait(context.Background(), f, worktreeWait) {
		f.Close()
		return nil, &repo.RefusedError{Reason: "another restore is under way in this worktree"}
	}
	return func() { f.Close() }, nil
}

// pending returns the safety snapshot of a killed restore, or nil. The journal is written
// first, so if the snapshot does not exist, the restore has not changed any file.
func (s *Restorer) pending(ctx context.Context) (*safety, error) {
	data, err := os.ReadFile(s.journal())
	ref := strings.TrimSpace(string(data))
	if err != nil || ref == "" {
		return nil, nil
	}
	commit, err := s.repo.ReadRef(ctx, ref)
	if err != nil || commit.IsZero() {
		return nil, err
	}
	return s.readSafety(ref, commit)
}

// finishPending completes a killed restore before another restore starts.
func (s *Restorer) finishPending(ctx context.Context) error {
	sf, err := s.pending(ctx)
	if err != nil {
		return err
	}
	if sf == nil {
		return s.removeJournal()
	}
	steps, err := sf.steps()
	if err == nil {
		err = refusal(s.site(s.repo.NewObjectWriter()).Finish(ctx, steps))
	}
	if err != nil {
		if _, refused := errors.AsType[*repo.RefusedError](err); refused {
			return err
		}
		return &repo.RefusedError{
			Reason: fmt.Sprintf("the interrupted restore of %s cannot be finished: %v", sf.plan.Checkpoint, err),
			Hint:   "git checkpoint restore --abort",
		}
	}
	s.recordHere(checkpoint.Issue(sf.plan.Issue), nil) // the paths that the restore left are not in the plan
	return s.removeJournal()
}

// sweep removes temporary files of a killed restore, except its journal. The caller holds
// the worktree lock.
func (s *Restorer) sweep() error { return s.site(nil).Sweep() }

// Continue finishes a killed restore, and reports whether such a restore existed. It also
// removes temporary files of a restore that was killed at its end.
func (s *Restorer) Continue(ctx context.Context) (bool, error) {
	return s.resolve(ctx, func(*safety) error { return s.finishPending(ctx) })
}

// Abort reverts a killed restore, and reports whether such a restore existed.
func (s *Restorer) Abort(ctx context.Context) (bool, error) {
	return s.resolve(ctx, func(sf *safety) error {
		if _, err := s.takeBack(ctx, sf, s.repo.NewObjectWriter(), nil); err != nil {
			return fmt.Errorf("revert the restore of %s: %w", sf.plan.Checkpoint, err)
		}
		return s.removeJournal()
	})
}

// resolve calls act with the safety snapshot of a killed restore, if such a restore
// exists.
func (s *Restorer) resolve(ctx context.Context, act func(*safety) error) (bool, error) {
	release, err := s.lockWorktree()
	if err != nil {
		return false, err
	}
	defer release()
	sf, err := s.pending(ctx)
	if err != nil {
		return true, err
	}
	if sf == nil {
		return false, errors.Join(s.removeJournal(), s.sweep())
	}
	if err := act(sf); err != nil {
		return true, err
	}
	return true, s.sweep()
}
