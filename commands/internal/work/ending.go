package work

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/retention"
)

// EndingOf returns the end of an issue's work, or nil if the work has not ended. Work that
// was archived by hand, by age or to start over has not ended.
func EndingOf(c *invoke.Invocation, issue checkpoint.Issue) *view.Ending {
	filed, err := c.Store.Facts.Ended(c.Ctx, issue)
	if err != nil {
		return nil // the command reports the damaged chain
	}
	e := &view.Ending{Issue: issue, Filed: filed}
	readEnding(c, e)
	switch {
	case filed.Why == retention.ReasonCompleted, filed.Why == retention.ReasonFailed:
		return e
	case filed.Why == retention.ReasonAbandoned && e.Record != nil && progress.Over(e.Record):
		return e
	}
	return nil
}

// readEnding reads the newest archived checkpoint. It ignores checkpoints that were archived before
// the last archival.
func readEnding(c *invoke.Invocation, e *view.Ending) {
	l, err := c.Store.Archived(c.Ctx, e.Issue, 1)
	if err != nil || len(l.Checkpoints) == 0 || l.Checkpoints[0].Filed != e.Filed {
		return
	}
	if r, err := c.Store.Record(&l.Checkpoints[0]); err == nil {
		e.Checkpoint, e.Record = &l.Checkpoints[0], r
	}
}
