package resume

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/standing"
	"git-checkpoint/freshness"
)

// showResumed prints the resumed checkpoint. The last line on standard output is the
// resume point.
func showResumed(c *invoke.Invocation, r *resumption) error {
	if c.JSON || c.Flags.String("print") == "env" {
		return showOutcome(c, r)
	}
	if c.Flags.String("print") == "prompt" {
		c.Printf("%s", cmp.Or(r.texts.Prompt, standing.Prompt(r.Judged, r.promptMore(), c.Env.Now(), standing.BytesPerToken*c.Flags.Int("max-tokens"))))
		return nil
	}
	if r.texts.Resumed != "" {
		return showResumedAs(c, r)
	}
	c.Printf("%s\n", output.Clean(fmt.Sprintf("%s, from %s (%s)", standing.Heading(r.Checkpoint, r.Record), r.Checkpoint.ID, phrase.Ago(r.Record.CreatedAt(), c.Env.Now()))))
	c.Printf("Progress: %s\n", output.Clean(standing.ProgressLine(r.Record)))
	standing.ShowPhases(c, r.Record)
	standing.ShowTasks(c, r.Record)
	standing.ShowNext(c, r.Verdict)
	if n := r.attempt(); n > 1 {
		c.Printf("Attempt: %d\n", n)
	}
	standing.ShowReasons(c, r.Verdict)
	if r.restored != nil {
		showRestored(c, r.restored, c.Flags.Bool("dry-run"))
	}
	if ids := r.Record.Conflicts(); len(ids) > 0 {
		c.Printf("Conflicts in progress: %s\n", output.Clean(phrase.List(ids)))
	}
	if standing.Of(r.Record, r.Verdict).Complete {
		c.Infof("nothing to resume: every phase is over")
	}
	c.Printf("%s\n", output.Clean(standing.ResumePoint(r.Judged)))
	return nil
}

// showOutcome prints the output for scripts: the JSON record or the variables.
func showOutcome(c *invoke.Invocation, r *resumption) error {
	if c.JSON {
		if c.Flags.Bool("ci") {
			printEnv(c, r)
		}
		out := resumeRecord(r)
		out.Warnings = append(out.Warnings, c.TakeWarnings()...)
		return c.WriteJSON(out)
	}
	if c.Flags.String("print") == "env" {
		printEnv(c, r)
		ciWarnings(c, r)
	}
	return nil
}

// promptMore returns the facts that the resume adds to the prompt.
func (r *resumption) promptMore() standing.PromptMore {
	more := standing.PromptMore{Attempt: r.attempt()}
	if r.restored != nil {
		more.Skipped = r.restored.Skipped
	}
	return more
}

func resumeRecord(r *resumption) output.Resume {
	out := output.Resume{Status: standing.Status("resume", r.Checkpoint, r.Record, r.Verdict)}
	out.Action = r.action()
	out.LabelsAdded, out.LabelsRemoved = r.synced.Add, r.synced.Remove
	if data, err := r.Record.JSON(); err == nil {
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
	return r.Verdict.Action.String()
}

// actionNone is the action if no checkpoint exists.
const actionNone = "none"

// printEnv prints a checkpoint's variables for shell evaluation.
func printEnv(c *invoke.Invocation, r *resumption) {
	at, skip := standing.Of(r.Record, r.Verdict), ""
	if r.resumed || r.chosen == "" && r.Verdict.Action <= freshness.ProceedWithWarning {
		skip = at.Current
	}
	setVariables(c, r, skip, r.action(), string(r.Checkpoint.ID), standing.ResumePoint(r.Judged), at.Current, strings.Join(at.Completed, ","))
}

// printVariables prints every variable if work does not resume.
func printVariables(c *invoke.Invocation, r *resumption, action, id, from, phase, completed string) {
	setVariables(c, r, "", action, id, from, phase, completed)
}

// setVariables sets and prints every variable, so that no value of an earlier run
// remains. With --json the record replaces the output. SKIP_TO_PHASE is set only if work
// resumes.
func setVariables(c *invoke.Invocation, r *resumption, skip, action, id, from, phase, completed string) {
	r.vars = []Variable{
		{"CHECKPOINT_ACTION", action},
		{"CHECKPOINT_ID", id},
		{"CHECKPOINT_RESUME_FROM", from},
		{"CHECKPOINT_CURRENT_PHASE", phase},
		{"CHECKPOINT_COMPLETED_PHASES", completed},
		{"SKIP_TO_PHASE", skip},
	}
	for _, v := range r.vars {
		if !c.JSON {
			c.Printf("%s=%s\n", v.Name, output.Shell(v.Value))
		}
	}
}
