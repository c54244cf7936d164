package gitstore

import (
	"context"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/restore"
	"git-checkpoint/gitstore/trace"
)

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

// Restore restores the files of a checkpoint, as Restorer.Restore describes it.
func (s *Store) Restore(ctx context.Context, req RestoreRequest) (*Restored, error) {
	defer trace.Begin(trace.Step, "restore").End()
	if req.Checkpoint != nil && !req.Request.DryRun {
		_ = s.Files.ReturnContent(req.Checkpoint) // git's filter names the file whose content is missing
	}
	return s.Restorer.Restore(ctx, req)
}

// A NotHere is a checkpoint that was saved in parallel to the files in this worktree.
type NotHere = restore.NotHere

// An OperationStart describes an operation that begins.
type OperationStart = operation.Start

// An Operation is the entry of an operation.
type Operation = operation.Entry

// OperationDone is the state of an operation that undo can revert.
const OperationDone = operation.Done

// Operate runs f as one operation: undo reverts all chains and archives that f moves together.
// Inside of another operation, f is a part of that one. Operate first settles an operation that was
// killed in this worktree.
func (s *Store) Operate(ctx context.Context, command string, issue checkpoint.Issue, f func() error) error {
	if command != "prune" { // prune also runs by itself in the background
		if err := s.Restorer.SettlePending(ctx); err != nil {
			return err
		}
	}
	return s.log.Run(ctx, operation.Start{Command: command, Issue: issue}, f)
}

// Operations returns the operations of this worktree, newest first, and those of removed worktrees.
func (s *Store) Operations(ctx context.Context) (list, gone []*Operation, err error) {
	for e, err := range s.log.Entries(ctx, s.log.Worktree()) {
		if err != nil {
			return nil, nil, err
		}
		list = append(list, e)
	}
	for e, err := range s.log.Entries(ctx, "") {
		if err == nil && s.log.IsGone(e) { // damaged entries of other worktrees do not matter here
			gone = append(gone, e)
		}
	}
	return list, gone, nil
}

// A Way is "undo" or "redo".
type Way = operation.Way

// An Undone is the result of an undo or a redo, or its preview.
type Undone = restore.Undone

// Which selects the operation that an undo or a redo reverts.
type Which = restore.Which

// Revert undoes or redoes an operation of this worktree, as Restorer.Revert describes it.
func (s *Store) Revert(ctx context.Context, way Way, which Which, shown *Undone) (*Undone, error) {
	return s.Restorer.Revert(ctx, way, which, shown)
}
