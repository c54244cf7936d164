package workflow

import (
	"errors"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
)

// failureChoices maps the answers to the question after a failure.
var failureChoices = map[string]string{
	"r": "retry", "retry": "retry", "s": "skip", "skip": "skip", "a": "abort", "abort": "abort",
}

// onFailure returns how work continues after a failure: by the flag, or by the answer of
// a person at the terminal. Otherwise the failure is recorded and nothing else happens.
func onFailure(c *invoke.Invocation, verb string) (progress.OnFailure, error) {
	if s := c.Flags.String("on-failure"); s != "" {
		o, err := progress.ParseOnFailure(s)
		if err != nil {
			return "", exit.Usagef("phase fail: --on-failure: %w", err)
		}
		return o, nil
	}
	if verb != "fail" || c.JSON || c.Common.Quiet || c.Flags.Bool("dry-run") {
		return progress.Nothing, nil
	}
	d, err := c.Dialog("")
	if err != nil {
		return progress.Nothing, nil
	}
	defer d.Close()
	answer, err := d.Ask("Retry phase, Skip phase, or Abort workflow? [r/s/a] ", failureChoices)
	if errors.Is(err, invoke.ErrNoAnswer) {
		return progress.Nothing, nil
	}
	return progress.OnFailure(answer), err
}

// tellStart prints the recovery system's messages about the start of a phase.
func tellStart(c *invoke.Invocation, p *phaseStep, err error) error {
	var over *progress.RefusedError
	switch {
	case p.verb != "start":
	case err == nil && p.phase != "" && !c.Flags.Bool("dry-run"):
		c.Infof("Executing Phase %s...", p.phase)
	case errors.As(err, &over) && over.Over:
		c.Infof("Skipping Phase %s (already completed)", p.phase)
	}
	return err
}

// afterPhase ends the workflow if a failure aborts it, and returns an error if a limit is
// exhausted.
func afterPhase(c *invoke.Invocation, p *phaseStep, s *gitstore.Saved) error {
	if ahead := progress.Ahead(s.Record, p.phase); len(ahead) > 0 && (p.verb == "start" || p.verb == "done") {
		c.Warnf("phases before phase %s are neither completed nor skipped: %s", p.phase, phrase.List(ahead))
	}
	if p.spent != nil {
		return p.spent
	}
	if p.verb == "fail" && p.onFailure == progress.Abort {
		return dispose(c, s, progress.Aborted)
	}
	return nil
}

// transitions returns the phase transitions that the settings allow.
func transitions(c *invoke.Invocation) (progress.Transitions, error) {
	var ways progress.Transitions
	for _, text := range c.Settings.Strings("transitions") {
		w, err := progress.ParseTransition(text)
		if err != nil {
			return nil, exit.Errorf(exit.Usage, "git checkpoint config", "transitions: %w", err)
		}
		ways = append(ways, w)
	}
	return ways, nil
}

// replanDepth limits the checkpoints that are searched for replans.
const replanDepth = 1000

// replansOf returns replans from an issue's records. The newest record may lack some of
// them, because work may have resumed from an older checkpoint. Unreadable records are
// skipped.
func replansOf(c *invoke.Invocation, issue checkpoint.Issue) []progress.Replan {
	l, err := c.Store.List(c.Ctx, issue, replanDepth)
	if err != nil {
		return nil
	}
	var records []*checkpoint.Record
	for i := range l.Checkpoints {
		if r, err := c.Store.Record(&l.Checkpoints[i]); err == nil {
			records = append(records, r)
		}
	}
	return progress.AllReplans(records...)
}

// nextPhase prints the phase at which work continues.
func nextPhase(c *invoke.Invocation, issue checkpoint.Issue) error {
	cp, r, err := c.Store.NewestRecord(c.Ctx, issue)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.WriteJSON(output.WorkflowStep{
			Save: output.Save{
				Type: "phase", CheckpointID: string(cp.ID), Issue: string(issue), Commit: cp.Commit.String(), Ref: gitstore.LiveRef(issue),
				Trigger: string(r.Trigger()), Phase: progress.Next(r), CreatedAt: r.CreatedAt(), Warnings: c.TakeWarnings(),
			},
			Progress: progressRecord(r),
		})
	}
	if next := progress.Next(r); next != "" {
		c.Printf("%s\n", output.Clean(next))
		return nil
	}
	c.Infof("nothing is left to do")
	return nil
}
