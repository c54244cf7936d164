package commands

import (
	"fmt"
	"strings"

	"git-checkpoint/commands/output"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// resumePrompt is what a person is asked about a checkpoint: the prompt of
// rows S1.50 to S1.54.
func resumePrompt(cp *gitstore.Checkpoint, r *checkpoint.Record, age string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Found existing checkpoint for \"%s\"\n", output.Clean(workName(cp, r)))
	fmt.Fprintf(&b, "Created: %s (%s)\n", r.CreatedAt().UTC().Format("2006-01-02 15:04:05"), age)
	fmt.Fprintf(&b, "Progress: %s\n", output.Clean(progressLine(r)))
	b.WriteString("\nOptions:\n")
	fmt.Fprintf(&b, "  (r)esume - Continue from %s\n", output.Clean(continueFrom(r)))
	b.WriteString("  (s)tart fresh - Delete checkpoint and restart\n")
	b.WriteString("  (v)iew details - Show checkpoint contents\n")
	b.WriteString("  (d)elete - Remove checkpoint without starting\n\n")
	return b.String()
}

// choiceLine ends the prompt.
const choiceLine = "Choice [r/s/v/d]: "

// workName is what the work is called: its description, the issue's title, or
// the issue.
func workName(cp *gitstore.Checkpoint, r *checkpoint.Record) string {
	if v, ok := r.Doc().Lookup("workflow.description"); ok {
		if s, ok := v.(string); ok && s != "" {
			return s
		}
	}
	return first(r.IssueSnapshot().Title, "issue "+string(cp.Issue))
}

// choices are the answers to the prompt.
var choices = map[string]string{
	"r": "r", "resume": "r", "s": "s", "start": "s", "start fresh": "s",
	"v": "v", "view": "v", "view details": "v", "d": "d", "delete": "d",
}

// askChoice puts the r/s/v/d prompt, and after r what else must be decided.
func (c *call) askChoice(d *dialog, r *resumption) (string, error) {
	text := resumePrompt(r.cp, r.record, ago(r.record.CreatedAt(), c.env.Now()))
	for {
		if _, err := d.tty.Write([]byte(text + reasonLines(r.verdict))); err != nil {
			return "", err
		}
		choice, err := d.ask(choiceLine, choices)
		if err != nil {
			return "", c.unanswered(r, "--choice r", err)
		}
		switch choice {
		case "v":
			if err := viewDetails(d, r); err != nil {
				return "", err
			}
		case "r":
			return choice, c.askRest(d, r)
		default:
			return choice, nil
		}
	}
}

// unanswered is the failure for a question that nobody answered.
func (c *call) unanswered(r *resumption, flag string, err error) error {
	return fail(exitNeedsAnswer, r.command(flag), "resume %s: %w", r.cp.ID, err)
}

// viewDetails shows the record and what the checks found, whole.
func viewDetails(d *dialog, r *resumption) error {
	data, err := r.record.Encode()
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(output.CleanBlock(string(data)))
	for _, reason := range r.verdict.Reasons {
		fmt.Fprintf(&b, "%s: %s\n", reason.Severity, output.Clean(reason.Message))
		for _, line := range reason.Detail {
			fmt.Fprintf(&b, "  %s\n", output.Clean(line))
		}
	}
	_, err = d.tty.Write([]byte(b.String() + "\n"))
	return err
}

// reasonLines are the findings, between the prompt and its question.
func reasonLines(v freshness.Verdict) string {
	var b strings.Builder
	for _, r := range v.Reasons {
		if r.Action > freshness.Resume {
			fmt.Fprintf(&b, "%s: %s\n", r.Severity, output.Clean(r.Message))
		}
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// askRest asks about a changed issue and about changed files.
func (c *call) askRest(d *dialog, r *resumption) error {
	for _, reason := range r.verdict.Reasons {
		if reason.Action != freshness.PromptUser {
			continue
		}
		switch reason.Check {
		case "body":
			answer, err := d.ask("Issue body changed since checkpoint. Resume? [y/N] ", yesNo)
			if err != nil {
				return c.unanswered(r, "--yes", err)
			}
			if answer == "n" {
				return silent{exitNone}
			}
		case "files":
			if err := c.askFiles(d, r, reason.Detail); err != nil {
				return err
			}
		}
	}
	return nil
}

// fileChoices are the answers about changed files. An empty line changes
// nothing.
var fileChoices = map[string]string{
	"m": "mine", "mine": "mine", "": "mine", "c": "checkpoint", "checkpoint": "checkpoint",
	"g": "merge", "merge": "merge", "a": "abort", "abort": "abort",
}

// askFiles asks what becomes of files that changed since the checkpoint.
func (c *call) askFiles(d *dialog, r *resumption, paths []string) error {
	text := fmt.Sprintf("Changed since the checkpoint: %s\nKeep (m)ine, take the (c)heckpoint's, mer(g)e, or (a)bort? [m] ", output.Clean(list(paths)))
	answer, err := d.ask(text, fileChoices)
	if err != nil {
		return c.unanswered(r, "--changed mine", err)
	}
	if answer == "abort" {
		return silent{exitNone}
	}
	r.changed = gitstore.Changed(answer)
	return nil
}
