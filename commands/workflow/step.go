// Package workflow has the commands that move a workflow: start, phase, task and finish.
package workflow

import (
	"cmp"
	"errors"
	"strings"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/issuesource"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/pushing"
	"git-checkpoint/commands/internal/saving"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/tasks"

	"github.com/urfave/cli/v2"
)

// A step is the work of start, phase, task and finish: a transition of the record, then a
// save.
type step struct {
	command string // its name
	trigger checkpoint.Trigger

	// move is the transition. If a save loses a race, move is called again with the other
	// writer's record. It must not have side effects, and names that it resolves must
	// resolve to the same objects again.
	move func(*checkpoint.Record) error

	// note returns the note of the completed step. It can be nil.
	note func() string

	// artifacts are additional files to capture.
	artifacts []string

	// record returns the JSON record of the step; nil for the record of a save.
	record func(output.WorkflowStep, *checkpoint.Record) any

	// begins runs move before --set and --state, so that they apply to the new workflow.
	begins bool

	// after runs after the save and can be nil. The command returns its error, but prints
	// the id first.
	after func(*gitstore.Saved) error
}

// stepFlags returns the given flags plus common step flags.
func stepFlags(own ...cli.Flag) []cli.Flag {
	return append(own,
		&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "a `NOTE` for people, instead of one that says what the step did"},
		&cli.StringFlag{Name: "session", Usage: "the session `UUID`"},
		&cli.StringFlag{Name: "state", Usage: "merge `FILE` (YAML or JSON, - for standard input) into the record"},
		&cli.StringSliceFlag{Name: "set", Usage: "set `PATH=VALUE` in the record; null deletes"},
		&cli.BoolFlag{Name: "worktree", Usage: "keep unstaged changes too"},
		&cli.BoolFlag{Name: "untracked", Usage: "keep untracked files too, never ignored ones"},
		&cli.StringFlag{Name: "issue-file", Usage: "read the issue's title, body and labels from `FILE`"},
		&cli.BoolFlag{Name: "no-prune", Usage: "leave retention for later"},
		&cli.BoolFlag{Name: "dry-run", Usage: "do everything but write"},
		issuesource.OfflineFlag(),
		pushing.Flag(),
	)
}

// take runs a step for an issue.
func take(c *invoke.Invocation, issue checkpoint.Issue, s step) error {
	if on, why := c.Settings.TriggerEnabled(s.trigger); !on {
		// A silent skip would make a script repeat the phase forever.
		return exit.Errorf(exit.Refused, switchOn(c, s.trigger), "%s: %s", s.command, why)
	}
	var after *checkpoint.Record
	move := func(r *checkpoint.Record) error {
		after = r
		if err := s.move(r); err != nil {
			return err
		}
		s.withNote(r)
		return nil
	}
	in := saving.Input{Move: move, Artifacts: s.artifacts}
	if s.begins {
		in.Begin, in.Move = move, nil
	}
	req, err := saving.Request(c, issue, s.trigger, in)
	if err != nil {
		return err
	}
	req.Newest = !s.begins // an older base would revert progress
	saved, err := c.Store.Save(c.Ctx, req)
	var nothing *progress.NothingError
	if errors.As(err, &nothing) {
		pushing.Missed(c, issue)
		return notTaken(c, issue, s, nothing.Reason, after)
	}
	if err != nil {
		return err
	}
	return taken(c, saved, s)
}

// switchOn returns the command that enables the saves of a trigger.
func switchOn(c *invoke.Invocation, t checkpoint.Trigger) string {
	switch {
	case !c.Settings.Bool("enabled"):
		return saving.Enable(c)
	case !c.Settings.Bool("auto_checkpoint"):
		return "git config checkpoint.auto-checkpoint true"
	}
	return "git config checkpoint.checkpoint-triggers." + strings.ReplaceAll(string(t), "_", "-") + " true"
}

// taken runs the step's after function and prints the save.
func taken(c *invoke.Invocation, saved *gitstore.Saved, s step) error {
	var then error
	if s.after != nil && !c.Flags.Bool("dry-run") {
		then = s.after(saved)
	}
	return cmp.Or(saving.Finish(c, saved, s.recordOf), then)
}

// notTaken prints that nothing was saved, and the reason. The --json record contains the
// progress.
func notTaken(c *invoke.Invocation, issue checkpoint.Issue, s step, why string, r *checkpoint.Record) error {
	if !c.JSON {
		c.Infof("skipped: %s", why)
		return nil
	}
	return c.WriteJSON(s.json(output.Save{
		Type: s.command, Issue: string(issue), Skipped: why, Trigger: string(s.trigger), Warnings: c.TakeWarnings(),
	}, r))
}

// recordOf returns the JSON record of a step that was saved.
func (s step) recordOf(saved *gitstore.Saved, warnings []string) any {
	return s.json(saving.Record(s.command, saved, warnings), saved.Record)
}

// json returns the JSON record of a step with the progress.
func (s step) json(saved output.Save, r *checkpoint.Record) any {
	if s.record == nil {
		return saved
	}
	return s.record(output.WorkflowStep{Save: saved, Progress: progressRecord(r)}, r)
}

// withProgress returns the JSON record of a step with the progress of its phases.
func withProgress(s output.WorkflowStep, _ *checkpoint.Record) any { return s }

// withTasks returns the JSON record of a step with its tasks.
func withTasks(s output.WorkflowStep, r *checkpoint.Record) any {
	if r == nil {
		r = checkpoint.New()
	}
	return taskRecord(s, r, tasks.Of(r).All())
}

// progressRecord returns the JSON record of the phases.
func progressRecord(r *checkpoint.Record) output.Progress {
	if r == nil {
		r = checkpoint.New()
	}
	p := r.Progress()
	return output.Progress{
		Current: p.Current, Completed: p.Completed, Skipped: p.Skipped, Remaining: p.Remaining, Total: p.Total,
		Complete: progress.Complete(r), Replans: progress.ReplanCounts(r), Awaiting: r.Awaiting(),
	}
}
