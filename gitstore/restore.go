package gitstore

import (
	"context"
	"errors"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/restore"
)

// A RestoreRequest says what to put back.
type RestoreRequest struct {
	Checkpoint *Checkpoint
	AnyHead    bool // whatever HEAD is, and leave what was changed since
	AnyBranch  bool // also if HEAD is on another branch than the checkpoint's

	Branch string // what a detached HEAD stands for, "" if CI does not name it
	restore.Request
}

// Restored is the outcome of a restore.
type Restored struct {
	ID      checkpoint.ID
	Merging []string // the commits that were being merged at the save, where no merge is under way now
	Undo    string   // the ref of the safety snapshot, "" when nothing was touched
	restore.Outcome
}

// Restore puts the files of a checkpoint back. It touches what the checkpoint
// changed against its own HEAD and nothing else, and leaves what was changed
// since alone unless asked. What it replaces is in a safety snapshot first. A
// restore that fails is taken back; one that is killed leaves a journal, by
// which the next one, Continue or Abort goes on.
func (s *Store) Restore(ctx context.Context, req RestoreRequest) (*Restored, error) {
	done, err := s.restore(ctx, req)
	if errors.Is(err, restore.ErrConcurrentChange) {
		err = &RefusedError{Reason: err.Error(), Hint: "git status"}
	}
	if err != nil {
		return done, fmt.Errorf("restore %s: %w", req.Checkpoint.ID, err)
	}
	return done, nil
}

func (s *Store) restore(ctx context.Context, req RestoreRequest) (*Restored, error) {
	if !req.DryRun { // which works in a repository that is read-only too
		release, err := s.lockWorktree()
		if err != nil {
			return nil, err
		}
		defer release()
		if err := errors.Join(s.finishPending(ctx), s.sweep()); err != nil {
			return nil, err
		}
	}
	st, err := s.openSnapshot(req.Checkpoint)
	if err != nil {
		return nil, err
	}
	if err := s.checkPlace(ctx, &req, st); err != nil {
		return nil, err
	}
	r := &restoring{s: s, req: &req, k: s.newObjectWriter()}
	done, err := r.run(ctx, st)
	if err != nil && r.safety != nil {
		return done, r.rollBack(context.WithoutCancel(ctx), done, err)
	}
	return done, refusal(err)
}

// A restoring is one restore.
type restoring struct {
	s      *Store
	req    *RestoreRequest
	k      *objectWriter
	safety *safety // once the worktree may have been touched
}

func (r *restoring) run(ctx context.Context, st *stored) (*Restored, error) {
	done := &Restored{ID: r.req.Checkpoint.ID, Merging: r.s.merging(st)}
	site := r.s.site(r.k)
	site.Touched = r.s.touchedSince(st.head)
	outcome, err := site.Restore(ctx, &st.Contents, r.req.Request, r.keep)
	done.Outcome = *outcome
	if r.safety != nil {
		done.Undo = r.safety.ref
	}
	return done, err
}

// keep writes the journal and the safety snapshot. The journal goes when all is
// done.
func (r *restoring) keep(ctx context.Context, steps []restore.Step) (finished func() error, err error) {
	r.safety, err = r.s.writeSafety(ctx, r.req.Checkpoint, steps, r.k)
	return r.s.removeJournal, err
}

// rollBack takes back what was done before an error.
func (r *restoring) rollBack(ctx context.Context, done *Restored, cause error) error {
	if _, err := r.s.takeBack(ctx, r.safety); err != nil {
		return &RefusedError{
			Reason: fmt.Sprintf("%v; what was done stays for now: %v", cause, err),
			Hint:   "git checkpoint restore --abort",
		}
	}
	done.Restored, done.Undo, done.Merged = nil, "", nil
	return errors.Join(cause, r.s.removeJournal())
}
