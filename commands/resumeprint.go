package commands

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/output"
	"git-checkpoint/freshness"
)

// showResumed prints the resumed checkpoint. The last line on standard output is the
// resume point.
func (c *Invocation) showResumed(r *resumption) error {
	if c.json || c.flags.String("print") == "env" {
		return c.showOutcome(r)
	}
	if c.flags.String("print") == "prompt" {
		c.print("%s", cmp.Or(r.texts.Prompt, promptFor(r.judged, r.promptMore(), c.env.Now(), bytesPerToken*c.flags.Int("max-tokens"))))
		return nil
	}
	if r.texts.Resumed != "" {
		return c.showResumedAs(r)
	}
	c.print("%s\n", output.Clean(fmt.Sprintf("%s, from %s (%s)", heading(r.cp, r.record), r.cp.ID, phrase.Ago(r.record.CreatedAt(), c.env.Now()))))
	c.print("Progress: %s\n", output.Clean(progressLine(r.record)))
	c.showPhases(r.record)
	c.showTasks(r.record)
	c.showNext(r.verdict)
	if n := r.attempt(); n > 1 {
		c.print("Attempt: %d\n", n)
	}
	c.showReasons(r.verdict)
	if r.restored != nil {
		c.showRestored(r.restored, c.flags.Bool("dry-run"))
	}
	if ids := r.record.Conflicts(); len(ids) > 0 {
		c.print("Conflicts in progress: %s\n", output.Clean(phrase.List(ids)))
	}
	if standingOf(r.record, r.verdict).complete {
		c.infof("nothing to resume: every phase is over")
	}
	c.print("%s\n", output.Clean(resumePoint(r.judged)))
	return nil
}

// showOutcome prints the output for scripts: the JSON record or the variables.
func (c *Invocation) showOutcome(r *resumption) error {
	if c.json {
		if c.flags.Bool("ci") {
			c.printEnv(r)
		}
		out := resumeRecord(r)
		out.Warnings = append(out.Warnings, c.takeWarnings()...)
		return c.write(out)
	}
	if c.flags.String("print") == "env" {
		c.printEnv(r)
		c.ciWarnings(r)
	}
	return nil
}

// promptMore returns the facts that the resume adds to the prompt.
func (r *resumption) promptMore() promptMore {
	more := promptMore{attempt: r.attempt()}
	if r.restored != nil {
		more.skipped = r.restored.Skipped
	}
	return more
}

func resumeRecord(r *resumption) output.Resume {
	out := output.Resume{Status: statusRecord("resume", r.cp, r.record, r.verdict)}
	out.Action = r.action()
	out.LabelsAdded, out.LabelsRemoved = r.synced.Add, r.synced.Remove
	if data, err := r.record.JSON(); err == nil {
		out.Checkpoint = json.RawMessage(data)
	}
	out.PhaseAttempt = r.attempt()
	if r.restored != nil {
		out.Restored, out.Undo = phrase.QuotePaths(r.restored.Restored), r.restored.Undo
	}
	return out
}

// action returns the user's choice, or the verdict's action if the user chose to resume.
func (r *resumption) action() string {
	switch r.chosen {
	case "s":
		return freshness.StartFresh.String()
	case "d":
		return actionNone
	}
	return r.verdict.Action.String()
}

// actionNone is the action if no checkpoint exists.
const actionNone = "none"

// printEnv prints a checkpoint's variables for shell evaluation.
func (c *Invocation) printEnv(r *resumption) {
	at, skip := standingOf(r.record, r.verdict), ""
	if r.resumed || r.chosen == "" && r.verdict.Action <= freshness.ProceedWithWarning {
		skip = at.current
	}
	c.setVariables(r, skip, r.action(), string(r.cp.ID), resumePoint(r.judged), at.current, strings.Join(at.completed, ","))
}

// printVariables prints every variable if work does not resume.
func (c *Invocation) printVariables(r *resumption, action, id, from, phase, completed string) {
	c.setVariables(r, "", action, id, from, phase, completed)
}

// setVariables sets and prints every variable, so that no value of an earlier run
// remains. With --json the record replaces the output. SKIP_TO_PHASE is set only if work
// resumes.
func (c *Invocation) setVariables(r *resumption, skip, action, id, from, phase, completed string) {
	r.vars = []variable{
		{"CHECKPOINT_ACTION", action},
		{"CHECKPOINT_ID", id},
		{"CHECKPOINT_RESUME_FROM", from},
		{"CHECKPOINT_CURRENT_PHASE", phase},
		{"CHECKPOINT_COMPLETED_PHASES", completed},
		{"SKIP_TO_PHASE", skip},
	}
	for _, v := range r.vars {
		if !c.json {
			c.print("%s=%s\n", v.name, output.Shell(v.value))
		}
	}
}
