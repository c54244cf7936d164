package undo

import (
	"context"

	"git-checkpoint/gitstore/checkpoint"
)

// isComplete reports whether a restore gave the worktree all files of the checkpoint, in the
// index too: no part was selected, and no path was left as it is.
func (req *RestoreRequest) isComplete(done *Restored) bool {
	return !req.DryRun && req.isWhole() && len(done.Skipped)+len(done.InTheWay)+len(done.Others) == 0
}

// isWhole reports whether a request selects all files of the checkpoint.
func (req *RestoreRequest) isWhole() bool {
	return len(req.Paths) == 0 && req.Staged == req.Worktree
}

// goesBack reports whether a restore makes its checkpoint the point from which the work goes
// on: the user asked for all of its files.
func (req *RestoreRequest) goesBack() bool {
	c := req.Checkpoint
	return req.Asked && req.isWhole() && c.ID != "" && c.Valid() && !c.Archived
}

// point returns the checkpoint from which the work goes on, or "".
func (s *Restorer) point(ctx context.Context, i checkpoint.Issue) checkpoint.ID {
	p, err := s.Point(ctx, i)
	if err != nil {
		return ""
	}
	return p.ID
}

// goBack records that the work goes on from another checkpoint than before (chain.SetPoint),
// and reports whether it does. The files are restored already, so an error is only a warning.
func (s *Restorer) goBack(ctx context.Context, i checkpoint.Issue, from, to checkpoint.ID) bool {
	moved, err := s.SetPoint(ctx, i, from, to)
	if err != nil {
		s.Notify("the files are restored, but it is not recorded that the work goes on from %s: %v", to, err)
	}
	return moved
}

// recordHere records the checkpoint whose files this worktree has now, "" if it is unknown.
func (s *Restorer) recordHere(i checkpoint.Issue, id checkpoint.ID) {
	if err := s.SetHere(i, id); err != nil {
		s.Notify("the checkpoint of this worktree's files is not recorded: %v", err)
	}
}
