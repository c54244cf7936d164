package work

import (
	"fmt"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
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
	// Checkpoints that were archived before the last archival do not count.
	if l, err := c.Store.Archived(c.Ctx, e.Issue, 1); err == nil && len(l.Checkpoints) > 0 && l.Checkpoints[0].Filed == filed {
		if r, err := c.Store.Record(&l.Checkpoints[0]); err == nil {
			e.Checkpoint, e.Record = &l.Checkpoints[0], r
		}
	}
	switch {
	case filed.Why == retention.ReasonCompleted, filed.Why == retention.ReasonFailed:
		return e
	case filed.Why == retention.ReasonAbandoned && e.Record != nil && progress.Over(e.Record):
		return e
	}
	return nil
}

// UndoHints returns the commands that bring back the checkpoints of an issue, and a line that says
// what took them away: an operation of this clone, an undo, or a drop that cannot be reverted here.
func UndoHints(c *invoke.Invocation, issue checkpoint.Issue) (hints, details []string) {
	for _, way := range []struct {
		name gitstore.Way
		text string
	}{{"undo", "the %s took away %s (%s)"}, {"redo", "the undo of the %s took away %s (%s)"}} {
		u, err := c.Store.Restorer.Preview(c.Ctx, way.name, gitstore.Which{Issue: issue})
		if err == nil && len(u.Brought) > 0 {
			hints = append(hints, "git checkpoint "+string(way.name)+" "+view.IssueArg(issue))
			details = append(details, fmt.Sprintf(way.text, u.What, view.Plural(len(u.Brought), "checkpoint"), view.Ago(u.At, c.Env.Now())))
		}
	}
	if ids, err := c.Store.Facts.Deleted(c.Ctx, issue); err == nil && len(ids) > 0 && len(hints) == 0 {
		details = append(details, "dropped, here or in another clone: "+view.Plural(len(ids), "checkpoint"))
	}
	return hints, details
}
