package gitstore

import (
	"context"

	"git-checkpoint/gitstore/checkpoint"
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

// A RestoreOutcome lists the result of a restore for each path.
type RestoreOutcome = restore.Outcome

// Restore restores the files of a checkpoint. If the user asked for the checkpoint, the files go back
// to it; otherwise it is merged with the present files. Content of older checkpoints and of HEAD at
// the save becomes the checkpoint's. In a merge, content of newer checkpoints, of commits and edits
// since the save stay, and a file that both sides changed is merged if the changes fit. A path that
// the checkpoint does not have is deleted only if the save read all files, and a checkpoint has the
// content. Before Restore replaces a file, a safety
// snapshot contains the old content. Failed restores are rolled back. After a kill, the
// journal allows the next restore or InterruptedRestore to resolve it.
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

// An Undone is the result of Undo or Redo, or its preview.
type Undone = restore.Undone

// Undo reverts this clone's last restore, prune, drop or archive of an issue. Removed
// checkpoints return to their former place, and later saves stay, with their pruning. Paths
// that have changed since a restore stay, also if a commit has changed them. Undo fails with
// ErrNothingToUndo.
func (s *Store) Undo(ctx context.Context, issue checkpoint.Issue) (*Undone, error) {
	return s.restorer.Undo(ctx, issue, nil)
}

// UndoShown is Undo for the operation of a preview. It fails with a *RefusedError if another
// operation is newer by now.
func (s *Store) UndoShown(ctx context.Context, issue checkpoint.Issue, shown *Undone) (*Undone, error) {
	return s.restorer.Undo(ctx, issue, shown)
}

// PreviewUndo returns what Undo would revert now, and changes nothing. Its Restored has the
// checkpoint of the restore, and the paths that Undo would write or leave.
// PreviewUndo fails with ErrNothingToUndo.
func (s *Store) PreviewUndo(ctx context.Context, issue checkpoint.Issue) (*Undone, error) {
	return s.restorer.Preview(ctx, issue)
}

// FinishedUndo returns the result of an undo that was killed after its refs had moved, or
// nil. The user does not know that it succeeded, and repeats the command.
func (s *Store) FinishedUndo(ctx context.Context, issue checkpoint.Issue) (*Undone, error) {
	return s.restorer.FinishedUndo(ctx, issue)
}

// Redo reverts the last undo of an issue, unless another restore or removal has followed. It
// fails with ErrNothingToRedo.
func (s *Store) Redo(ctx context.Context, issue checkpoint.Issue) (*Undone, error) {
	return s.restorer.Redo(ctx, issue, nil)
}

// RedoShown is Redo for the undo of a preview. It fails with a *RefusedError if another
// operation is newer by now.
func (s *Store) RedoShown(ctx context.Context, issue checkpoint.Issue, shown *Undone) (*Undone, error) {
	return s.restorer.Redo(ctx, issue, shown)
}

// PreviewRedo returns what Redo would do now, and changes nothing. It fails with
// ErrNothingToRedo.
func (s *Store) PreviewRedo(ctx context.Context, issue checkpoint.Issue) (*Undone, error) {
	return s.restorer.PreviewRedo(ctx, issue)
}

// FinishedRedo is FinishedUndo for a redo.
func (s *Store) FinishedRedo(ctx context.Context, issue checkpoint.Issue) (*Undone, error) {
	return s.restorer.FinishedRedo(ctx, issue)
}
