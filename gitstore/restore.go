package gitstore

import (
	"context"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/restore"
	"git-checkpoint/gitstore/trace"
)

// An InterruptedRestore is a restore in this worktree that was killed, if there is one.
type InterruptedRestore struct{ restorer *restore.Restorer }

// Exists reports whether a restore in this worktree was killed and can be finished or
// aborted.
func (i InterruptedRestore) Exists(ctx context.Context) bool { return i.restorer.Pending(ctx) }

// IsUnderWay reports whether a process restores files in this worktree now.
func (i InterruptedRestore) IsUnderWay() bool { return i.restorer.IsUnderWay() }

// IndexLock returns the path of the index lock that a killed restore left, or "".
func (i InterruptedRestore) IndexLock() string { return i.restorer.StaleIndexLock() }

// Continue finishes a killed restore, and reports whether such a restore existed. It also
// removes temporary files of a restore that was killed at its end.
func (i InterruptedRestore) Continue(ctx context.Context) (bool, error) {
	return i.restorer.Continue(ctx)
}

// Abort reverts a killed restore, and reports whether such a restore existed.
func (i InterruptedRestore) Abort(ctx context.Context) (bool, error) { return i.restorer.Abort(ctx) }

// RestoreOptions select the files of a checkpoint to restore, and how.
type RestoreOptions = restore.Request

// Changed is the choice for a file that both sides changed.
type Changed = restore.Changed

// MergeBoth is the choice that merges both versions of a file.
const MergeBoth = restore.Merged

// ParseChanged parses a choice.
func ParseChanged(s string) (Changed, error) { return restore.ParseChanged(s) }

// A RestoreRequest holds the parameters of a restore.
type RestoreRequest = restore.RestoreRequest

// An UnchangedPathError reports a requested path without a change in the checkpoint.
type UnchangedPathError = restore.UnchangedPathError

// A Look is a list of changed and untracked files that several plans of one command share.
type Look = restore.Look

// A Restored is the result of a restore.
type Restored = restore.Restored

// Restore restores the files of a checkpoint. If the user asked for the checkpoint, the files go back
// to it; otherwise it is merged with the present files. Content of older checkpoints and of HEAD at
// the save becomes the checkpoint's. In a merge, content of newer checkpoints, of commits and edits
// since the save stay, and a file that both sides changed is merged if the changes fit. A path that
// the checkpoint does not have is deleted only if the save read all files, and a checkpoint has the
// content. Before Restore replaces a file, the entry of the operation has the old content. Failed
// restores are rolled back. After a kill, the next restore, undo or InterruptedRestore settles it.
func (s *Store) Restore(ctx context.Context, req RestoreRequest) (*Restored, error) {
	defer trace.Begin(trace.Step, "restore").End()
	if req.Checkpoint != nil && !req.Request.DryRun {
		_ = s.snapshot.ReturnContent(req.Checkpoint) // git's filter names the file whose content is missing
	}
	return s.restorer.Restore(ctx, req)
}

// A NotHere is a checkpoint that was saved in parallel to the files in this worktree.
type NotHere = restore.NotHere

// NotHere returns the checkpoints of the branch that were saved in parallel, for example in
// another clone, and of which files are not in this worktree, newest first.
func (s *Store) NotHere(ctx context.Context, issue checkpoint.Issue) ([]NotHere, error) {
	return s.restorer.NotHere(ctx, issue)
}

// LastRestored returns the issue of the newest restore in this worktree that can be
// undone, or "".
func (s *Store) LastRestored(ctx context.Context) checkpoint.Issue {
	return s.restorer.LastRestored(ctx)
}

// An OperationStart describes an operation that begins.
type OperationStart = operation.Start

// An Operation is the entry of an operation.
type Operation = operation.Entry

// OperationDone is the state of an operation that undo can revert.
const OperationDone = operation.Done

// Operate runs f as one operation: undo reverts all chains and archives that f moves together.
// Inside of another operation, f is a part of that one.
func (s *Store) Operate(ctx context.Context, command string, issue checkpoint.Issue, f func() error) error {
	return s.log.Run(ctx, operation.Start{Command: command, Issue: issue}, f)
}

// OperateHere is Operate for an operation that also changes files or the state of this worktree. No
// other operation on this worktree runs meanwhile.
func (s *Store) OperateHere(ctx context.Context, o OperationStart, f func() error) error {
	return s.restorer.Operate(ctx, o, f)
}

// A Place is a state of HEAD.
type Place = operation.Place

// Place returns the present state of HEAD.
func (s *Store) Place(ctx context.Context) (*Place, error) { return s.log.PlaceNow(ctx) }

// Operations returns the operations of this worktree, newest first.
func (s *Store) Operations(ctx context.Context) (list []*Operation, err error) {
	for e, err := range s.log.Entries(ctx, s.log.Worktree()) {
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// An Undone is the result of Undo or Redo, or its preview.
type Undone = restore.Undone

// Which selects the operation that an undo or a redo reverts.
type Which = restore.Which

// Undo reverts the last operation of this worktree, or the one that which selects. Removed
// checkpoints return to their former place, added ones go, and later saves stay, with their pruning.
// Paths that have changed since a restore stay, also if a commit has changed them. Undo fails with
// ErrNothingToUndo. If shown is not nil, it fails with a *RefusedError unless it would revert the
// operation of this preview.
func (s *Store) Undo(ctx context.Context, which Which, shown *Undone) (*Undone, error) {
	return s.restorer.Undo(ctx, which, shown)
}

// PreviewUndo returns what Undo would revert now, and changes nothing. Its Restored has the
// checkpoint of the restore, and the paths that Undo would write or leave.
// PreviewUndo fails with ErrNothingToUndo.
func (s *Store) PreviewUndo(ctx context.Context, which Which) (*Undone, error) {
	return s.restorer.Preview(ctx, which)
}

// Redo reverts the last undo, unless another operation has followed. It fails with
// ErrNothingToRedo. shown is as for Undo.
func (s *Store) Redo(ctx context.Context, which Which, shown *Undone) (*Undone, error) {
	return s.restorer.Redo(ctx, which, shown)
}

// PreviewRedo returns what Redo would do now, and changes nothing. It fails with
// ErrNothingToRedo.
func (s *Store) PreviewRedo(ctx context.Context, which Which) (*Undone, error) {
	return s.restorer.PreviewRedo(ctx, which)
}
