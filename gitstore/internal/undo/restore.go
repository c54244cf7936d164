package undo

import (
	"context"
	"errors"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/capture"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/restore"
)

// RestoreOptions select the files of a checkpoint to restore, and how.
type RestoreOptions = restore.Request

// Changed is the choice for a file that both sides changed.
type Changed = restore.Changed

// ParseChanged parses a choice.
func ParseChanged(s string) (Changed, error) { return restore.ParseChanged(s) }

// A RestoreRequest holds the parameters of a restore.
type RestoreRequest struct {
	Checkpoint *chain.Checkpoint
	AnyHead    bool // accept any HEAD, and keep files that changed since
	AnyBranch  bool // accept a HEAD on another branch than the checkpoint's

	Branch string // branch of a detached HEAD as named by CI, or ""
	restore.Request
}

// A Restored is the result of a restore.
type Restored struct {
	ID      checkpoint.ID
	Merging []string // commits of the merge at the save, if no merge is in progress now
	Undo    string   // safety snapshot's ref, "" without changes
	restore.Outcome
}

// Restore restores the files of a checkpoint. It changes only files that the checkpoint
// changed relative to its own HEAD. Files that were changed since stay unchanged, unless
// requested otherwise. Before Restore replaces a file, a safety snapshot contains the old
// content. Failed restores are rolled back. After a kill, the journal allows the next
// restore, Continue or Abort to resolve it.
func (s *Restorer) Restore(ctx context.Context, req RestoreRequest) (*Restored, error) {
	done, err := s.restore(ctx, req)
	if errors.Is(err, restore.ErrConcurrentChange) {
		err = &repo.RefusedError{Reason: err.Error(), Hint: "git status"}
	}
	if err != nil {
		return done, fmt.Errorf("restore %s: %w", req.Checkpoint.ID, err)
	}
	return done, nil
}

func (s *Restorer) restore(ctx context.Context, req RestoreRequest) (*Restored, error) {
	if !req.DryRun { // a dry run also works in a read-only repository
		release, err := s.lockWorktree()
		if err != nil {
			return nil, err
		}
		defer release()
		if err := errors.Join(s.finishPending(ctx), s.sweep()); err != nil {
			return nil, err
		}
	}
	st, err := s.OpenSnapshot(req.Checkpoint)
	if err != nil {
		return nil, err
	}
	if err := s.checkPlace(ctx, &req, st); err != nil {
		return nil, err
	}
	r := &restoring{s: s, req: &req, k: s.NewObjectWriter()}
	done, err := r.run(ctx, st)
	if err != nil && r.safety != nil {
		return done, r.rollBack(context.WithoutCancel(ctx), done, err)
	}
	return done, refusal(err)
}

// A restoring is the state of one restore.
type restoring struct {
	s      *Restorer
	req    *RestoreRequest
	k      *repo.ObjectWriter
	safety *safety // set before the first change of the worktree
}

func (r *restoring) run(ctx context.Context, st *capture.Stored) (*Restored, error) {
	done := &Restored{ID: r.req.Checkpoint.ID, Merging: r.s.merging(st)}
	site := r.s.site(r.k)
	site.Touched = r.s.TouchedSince(st.Head)
	outcome, err := site.Restore(ctx, &st.Contents, r.req.Request, r.keep)
	done.Outcome = *outcome
	if r.safety != nil {
		done.Undo = r.safety.ref
	}
	return done, err
}

// keep writes journal and safety snapshot. The returned function removes the journal at
// the end.
func (r *restoring) keep(ctx context.Context, steps []restore.Step) (finished func() error, err error) {
	r.safety, err = r.s.writeSafety(ctx, r.req.Checkpoint, steps, r.k)
	return r.s.removeJournal, err
}

// rollBack reverts changes made before an error.
func (r *restoring) rollBack(ctx context.Context, done *Restored, cause error) error {
	if _, err := r.s.takeBack(ctx, r.safety); err != nil {
		return &repo.RefusedError{
			Reason: fmt.Sprintf("%v; what was done stays for now: %v", cause, err),
			Hint:   "git checkpoint restore --abort",
		}
	}
	done.Restored, done.Undo, done.Merged = nil, "", nil
	return errors.Join(cause, r.s.removeJournal())
}
