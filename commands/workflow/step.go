// Package workflow has the commands that move a workflow: start, phase, task and finish.
package workflow

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/failure"
)

// A step is the work of start, phase, task and finish: a transition of the record, then a
// save.
type step struct {
	command string // its name
	options *work.SaveOptions
	trigger checkpoint.Trigger

	// move is the transition. If a save loses a race, move is called again with the other
	// writer's record. It must not have side effects, and names that it resolves must
	// resolve to the same objects again.
	move func(*checkpoint.Record) error

	// note returns the note of the completed step. It can be nil.
	note func() string

	// artifacts are additional files to capture.
	artifacts []string

	// begins runs move before --set and --state, so that they apply to the new workflow.
	begins bool

	// after runs after the save and can be nil. The command returns its error, but prints
	// the id first.
	after func(*gitstore.Saved) error

	// end disposes of the chain after the save and can be nil. If it fails, the command
	// pushes nothing.
	end func(*gitstore.Saved) error
}

// take runs a step for an issue.
func take(c *invoke.Invocation, issue checkpoint.Issue, s step) error {
	if on, why := c.Settings.TriggerEnabled(s.trigger); !on {
		// A silent skip would make a script repeat the phase forever.
		return failure.Errorf(failure.Refused, switchOn(c, s.trigger), "%s: %s", s.command, why)
	}
	var after *checkpoint.Record
	move := func(r *checkpoint.Record) error {
		after = r
		if err := s.move(r); err != nil {
			return err
		}
		if s.note != nil && r.Note() == "" {
			r.SetNote(s.note())
		}
		return nil
	}
	in := work.SaveInput{Move: move, Artifacts: s.artifacts}
	if s.begins {
		in.Begin, in.Move = move, nil
	}
	req, err := work.SaveRequest(c, issue, s.trigger, s.options, in)
	if err != nil {
		return err
	}
	req.Newest = !s.begins // an older base would revert progress
	req.Command = s.command + ":"
	if s.command == "phase" || s.command == "task" {
		req.Command = s.command + " " + c.Line.Args[0] + ":"
	}
	t := c.TickFiles(c.Line.Name + ": reading files")
	saved, err := c.Store.Save(c.Ctx, req)
	t.End()
	if nothing, ok := errors.AsType[*progress.NothingError](err); ok {
		failed := work.PushMissed(c, issue, s.options)
		if !c.Line.JSON {
			c.Infof("skipped: %s", nothing.Reason)
			return failed
		}
		return cmp.Or(c.WriteJSON(s.json(view.Save{
			Type: s.command, DryRun: s.options.DryRun, Issue: string(issue), Skipped: nothing.Reason, Trigger: string(s.trigger), Warnings: c.TakeWarnings(),
		}, after)), failed)
	}
	if err != nil {
		return err
	}
	err = taken(c, saved, s)
	work.Maintain(c, s.trigger, s.options)
	return err
}

// switchOn returns the command that enables the saves of a trigger.
func switchOn(c *invoke.Invocation, t checkpoint.Trigger) string {
	switch {
	case !c.Settings.Bool("enabled"):
		return work.Enable(c)
	case !c.Settings.Bool("auto_checkpoint"):
		return "git config checkpoint.auto-checkpoint true"
	}
	return "git config checkpoint.triggers." + strings.ReplaceAll(string(t), "_", "-") + " true"
}

// taken runs the functions after the save, prints the save, and pushes it.
func taken(c *invoke.Invocation, saved *gitstore.Saved, s step) error {
	var then error
	if s.after != nil && !s.options.DryRun {
		then = s.after(saved)
	} else if s.end != nil && !s.options.DryRun {
		if err := s.end(saved); err != nil {
			return cmp.Or(work.ShowSaved(c, saved, s.recordOf), err)
		}
	}
	return cmp.Or(work.FinishSave(c, saved, s.options.Push, s.recordOf), then)
}

// recordOf returns the JSON record of a step that was saved.
func (s step) recordOf(saved *gitstore.Saved, warnings []string) any {
	return s.json(work.SaveRecord(s.command, saved, warnings), saved.Record)
}

// json returns the JSON record of a step with the progress, for task with the tasks. The record of
// start is that of a save.
func (s step) json(saved view.Save, r *checkpoint.Record) any {
	if s.command == "start" {
		return saved
	}
	if r == nil {
		r = checkpoint.New()
	}
	step := view.WorkflowStep{Save: saved, Progress: progressRecord(r)}
	if s.command == "task" {
		return taskRecord(step, r, tasks.Of(r).All())
	}
	return step
}

// recordedStep returns the JSON record of a checkpoint from which the work goes on, for a verb that
// saves nothing.
func recordedStep(c *invoke.Invocation, kind, phase string, cp *gitstore.Checkpoint, r *checkpoint.Record) view.WorkflowStep {
	return view.WorkflowStep{
		Save: view.Save{
			Type: kind, CheckpointID: string(cp.ID), Issue: string(cp.Issue), Commit: cp.Commit.String(), Ref: gitstore.LiveRef(cp.Issue),
			Trigger: string(r.Trigger()), Phase: phase, CreatedAt: r.CreatedAt(), Warnings: c.TakeWarnings(),
		},
		Progress: progressRecord(r),
	}
}

// progressRecord returns the JSON record of the phases.
func progressRecord(r *checkpoint.Record) view.Progress {
	p := r.Progress()
	current := p.Current
	if progress.Complete(r) {
		current = "" // the record can name a phase beyond the last
	}
	return view.Progress{
		Current: current, Completed: p.Completed, Skipped: p.Skipped, Remaining: p.Remaining, Total: p.Total,
		Complete: progress.Complete(r), Replans: progress.ReplanCounts(r), Awaiting: r.Awaiting(),
	}
}

// A verbFlags lists the flags of one verb.
type verbFlags struct {
	name  string
	flags []string
}

// verbOf returns the verb of the command line. It returns an error if a flag belongs to other verbs
// only. usual is a verb that changes nothing.
func verbOf(c *invoke.Invocation, verbs []verbFlags, usual string) (verb string, err error) {
	if len(c.Line.Args) > 0 {
		verb = c.Line.Args[0]
	}
	names := view.Each(verbs, func(v verbFlags) string { return v.name })
	i := slices.Index(names, verb)
	if i < 0 {
		return "", invoke.UnknownVerb(c.Line.Name, verb, usual, names)
	}
	for _, v := range verbs {
		for _, name := range v.flags {
			if c.Line.Flags.IsSet(name) && !slices.Contains(verbs[i].flags, name) {
				return "", failure.Usagef("%s %s: --%s cannot be combined with it", c.Line.Name, verb, name)
			}
		}
	}
	return verb, nil
}

// noteWidth limits the part of a summary, error or reason that a note repeats. The record
// has the whole text.
const noteWidth = 100

// pastOf maps the verbs of steps to their form in notes.
var pastOf = map[string]string{
	"start": "started", "done": "done", "fail": "failed", "skip": "skipped", "await": "waits for approval", "approve": "approved", "replan": "planned anew",
	"add": "added", "suspect": "suspected", "clear": "cleared", "recover": "recovered",
}

// stepNote returns the default note of a step, so that a timeline names each transition.
func stepNote(what, verb, why string) string {
	text := strings.TrimSpace(what + " " + cmp.Or(pastOf[verb], verb))
	if why = view.FirstLine(strings.TrimSpace(why)); why != "" {
		text += ": " + why
	}
	if view.Width(text) <= noteWidth {
		return text
	}
	// A cut inside a secret would hide it from the scanner, and the part would be saved unmasked.
	head, rest := view.Cut(text, noteWidth-len("..."))
	if inWord(rune(rest[0])) {
		head = strings.TrimRightFunc(head, inWord)
	}
	return head + "..."
}

// inWord reports whether a secret may contain a character.
func inWord(r rune) bool { return r > ' ' && r < 0x7f }
