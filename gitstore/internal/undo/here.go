package undo

import "git-checkpoint/gitstore/checkpoint"

// isComplete reports whether a restore gave the worktree all files of the checkpoint, in the
// index too: no part was selected, and no path was left as it is.
func (req *RestoreRequest) isComplete(done *Restored) bool {
	return !req.DryRun && len(req.Paths) == 0 && req.Staged == req.Worktree &&
		len(done.Skipped)+len(done.InTheWay)+len(done.Others) == 0
}

// recordHere records the checkpoint whose files this worktree has now, "" if it is unknown.
func (s *Restorer) recordHere(i checkpoint.Issue, id checkpoint.ID) {
	if err := s.SetHere(i, id); err != nil {
		s.Notify("the checkpoint of this worktree's files is not recorded: %v", err)
	}
}
