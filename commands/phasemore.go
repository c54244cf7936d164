package commands

import (
	"errors"

	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
)

// failureChoices are the answers to the question after a failure.
var failureChoices = map[string]string{
	"r": "retry", "retry": "retry", "s": "skip", "skip": "skip", "a": "abort", "abort": "abort",
}

// onFailure is how the work goes on after a failure: as the flag says, else as
// a person at a terminal does. Where nobody says it, the failure is recorded
// and no more.
func (c *Invocation) onFailure(verb string) (progress.OnFailure, error) {
	if s := c.flags.String("on-failure"); s != "" {
		o, err := progress.ParseOnFailure(s)
		if err != nil {
			return "", usagef("phase fail: --on-failure: %w", err)
		}
		return o, nil
	}
	if verb != "fail" || c.json || c.flags.Bool("quiet") || c.flags.Bool("dry-run") {
		return progress.Nothing, nil
	}
	d, err := c.dialog("")
	if err != nil {
		return progress.Nothing, nil
	}
	defer d.close()
	answer, err := d.ask("Retry phase, Skip phase, or Abort workflow? [r/s/a] ", failureChoices)
	if errors.Is(err, errNoAnswer) {
		return progress.Nothing, nil
	}
	return progress.OnFailure(answer), err
}

// tellStart tells in the words of the recovery system whether a phase that was
// to begin does.
func (c *Invocation) tellStart(p *phaseStep, err error) error {
	var over *progress.RefusedError
	switch {
	case p.verb != "start":
	case err == nil && p.phase != "" && !c.flags.Bool("dry-run"):
		c.infof("Executing Phase %s...", p.phase)
	case errors.As(err, &over) && over.Over:
		c.infof("Skipping Phase %s (already completed)", p.phase)
	}
	return err
}

// afterPhase ends the workflow where a failure aborts it, and fails where a
// limit is reached.
func (c *Invocation) afterPhase(p *phaseStep, s *gitstore.Saved) error {
	if ahead := progress.Ahead(s.Record, p.phase); len(ahead) > 0 && (p.verb == "start" || p.verb == "done") {
		c.warnf("phases before phase %s are neither completed nor skipped: %s", p.phase, list(ahead))
	}
	if p.spent != nil {
		return p.spent
	}
	if p.verb == "fail" && p.onFailure == progress.Abort {
		return c.dispose(s, progress.Aborted)
	}
	return nil
}

// transitions are the ways from phase to phase that the settings allow.
func (c *Invocation) transitions() (progress.Transitions, error) {
	var ways progress.Transitions
	for _, text := range c.settings.Strings("transitions") {
		w, err := progress.ParseTransition(text)
		if err != nil {
			return nil, fail(exitUsage, "git checkpoint config", "transitions: %w", err)
		}
		ways = append(ways, w)
	}
	return ways, nil
}

// replanDepth is how many checkpoints are asked for replans.
const replanDepth = 1000

// replansOf are the replans that the checkpoints of an issue tell of. The newest
// one need not know of all: work may go on from an older one. A record that
// cannot be read tells of none.
func (c *Invocation) replansOf(issue checkpoint.Issue) []progress.Replan {
	l, err := c.store.List(c.ctx, issue, replanDepth)
	if err != nil {
		return nil
	}
	var records []*checkpoint.Record
	for i := range l.Checkpoints {
		if r, err := c.store.Record(&l.Checkpoints[i]); err == nil {
			records = append(records, r)
		}
	}
	return progress.AllReplans(records...)
}

// nextPhase prints the phase to go on with.
func (c *Invocation) nextPhase(issue checkpoint.Issue) error {
	cp, r, err := c.store.NewestRecord(c.ctx, issue)
	if err != nil {
		return err
	}
	if c.json {
		return c.write(output.WorkflowStep{
			Save: output.Save{
				Type: "phase", CheckpointID: string(cp.ID), Issue: string(issue), Commit: cp.Commit.String(), Ref: gitstore.LiveRef(issue),
				Trigger: string(r.Trigger()), Phase: progress.Next(r), CreatedAt: r.CreatedAt(), Warnings: c.takeWarnings(),
			},
			Progress: progressRecord(r),
		})
	}
	if next := progress.Next(r); next != "" {
		c.print("%s\n", output.Clean(next))
		return nil
	}
	c.infof("nothing is left to do")
	return nil
}
