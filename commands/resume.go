package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/output"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

var resumeCommand = command{
	name: "resume", usage: "judge a checkpoint, ask, restore it and say where to go on", args: "[ISSUE] [ID]", max: 2, category: "Resume",
	description: "The last line on standard output is the resume point. Without a terminal only a\n" +
		"verdict of prompt_user needs an answer: --yes, --choice or --force give it.",
	flags: []cli.Flag{
		&cli.BoolFlag{Name: "yes", Usage: "choose r without asking"},
		&cli.StringFlag{Name: "choice", Usage: "answer the prompt: `r`, s, v or d"},
		&cli.BoolFlag{Name: "auto", Usage: "resume only where nothing needs an answer"},
		&cli.StringFlag{Name: "print", Usage: "print the outcome as `text`, json, env or prompt", Value: "text"},
		changedFlag(),
		&cli.BoolFlag{Name: "no-files", Usage: "leave the files alone"},
		&cli.BoolFlag{Name: "dry-run", Usage: "say what would be done, do nothing"},
		&cli.BoolFlag{Name: "fallback", Usage: "take the newest checkpoint that is valid"},
		&cli.BoolFlag{Name: "strict", Usage: "exit 9 when there are warnings"},
		&cli.BoolFlag{Name: "force", Usage: "resume in spite of the verdict, wherever HEAD is"},
		&cli.StringFlag{Name: "issue-file", Usage: "compare with the issue in `FILE`"},
	},
	run: runResume,
}

// A resumption is one resume on its way.
type resumption struct {
	cp       *gitstore.Checkpoint
	record   *checkpoint.Record
	verdict  freshness.Verdict
	changed  gitstore.Changed
	restored *gitstore.Restored
}

func runResume(c *call) error {
	choice, err := c.resumeFlags()
	if err != nil {
		return err
	}
	if err := c.open(); err != nil {
		return err
	}
	r, err := c.toResume()
	if err != nil {
		return err
	}
	r.changed = gitstore.Changed(c.flags.String("changed"))
	if choice == "" {
		choice, err = c.choose(r)
	}
	if err != nil {
		return err
	}
	switch choice {
	case "s":
		return c.startFresh(r)
	case "d":
		return c.deleteChain(r)
	case "v":
		return c.showRecord(r.record, "yaml")
	}
	return c.resume(r)
}

// resumeFlags checks the flags and returns the choice that they make, "" where
// they leave it open.
func (c *call) resumeFlags() (string, error) {
	if _, err := gitstore.ParseChanged(c.flags.String("changed")); err != nil {
		return "", usagef("--changed: %w", err)
	}
	if p := c.flags.String("print"); !slices.Contains([]string{"text", "json", "env", "prompt"}, p) {
		return "", usagef("--print: %q: want text, json, env or prompt", p)
	}
	if c.flags.String("print") == "json" {
		c.json = true
	}
	choice := c.flags.String("choice")
	if choice != "" && !slices.Contains([]string{"r", "s", "v", "d"}, choice) {
		return "", usagef("--choice: %q: want r, s, v or d", choice)
	}
	if choice == "" && c.flags.Bool("yes") {
		choice = "r"
	}
	return choice, nil
}

// toResume finds, reads and judges the checkpoint.
func (c *call) toResume() (*resumption, error) {
	r := &resumption{}
	var err error
	if c.flags.Bool("fallback") {
		issue, _, err := c.issueAndName()
		if err != nil {
			return nil, err
		}
		if r.cp, r.record, err = c.store.NewestValid(c.ctx, issue); err != nil {
			return nil, err
		}
	} else {
		if r.cp, err = c.checkpointArg(false); err != nil {
			return nil, err
		}
		if r.record, err = c.store.Record(r.cp); err != nil {
			return nil, err
		}
	}
	r.verdict, err = c.judge(r.cp, r.record)
	return r, err
}

// choose finds out what to do where no flag says it.
func (c *call) choose(r *resumption) (string, error) {
	v := r.verdict
	switch {
	case c.flags.Bool("dry-run"), c.flags.Bool("force"):
		return "r", nil
	case v.Action == freshness.StartFresh:
		return "", c.refuse(r)
	case v.Stale:
		return "", fail(exitStale, "", "resume %s: %s", r.cp.ID, list(v.Warnings()))
	case c.flags.Bool("auto"), c.json, c.flags.String("print") != "text":
		return "r", c.needsAnswer(r)
	}
	d, err := c.dialog("git checkpoint resume --yes")
	if err != nil {
		return "r", c.needsAnswer(r)
	}
	defer d.close()
	return c.askChoice(d, r)
}

// refuse explains why a checkpoint cannot be resumed.
func (c *call) refuse(r *resumption) error {
	var why []string
	hint := "git checkpoint resume --force"
	for _, reason := range r.verdict.Reasons {
		if reason.Action == freshness.StartFresh {
			why = append(why, reason.Message)
			hint = first(reason.Hint, hint)
		}
	}
	if c.json {
		if err := c.write(resumeRecord(r)); err != nil {
			return err
		}
	}
	return fail(exitStartFresh, hint, "cannot resume %s: %s", r.cp.ID, strings.Join(why, "; "))
}

// needsAnswer fails where a person would have to decide.
func (c *call) needsAnswer(r *resumption) error {
	if r.verdict.Action < freshness.PromptUser {
		return nil
	}
	var why []string
	for _, reason := range r.verdict.Reasons {
		if reason.Action == freshness.PromptUser {
			why = append(why, reason.Message)
		}
	}
	return fail(exitNeedsAnswer, "git checkpoint resume --yes", "resume %s: %s", r.cp.ID, strings.Join(why, "; "))
}

// askChoice puts the r/s/v/d prompt, and after r what else must be decided.
func (c *call) askChoice(d *dialog, r *resumption) (string, error) {
	text := resumePrompt(r.cp, r.record, ago(r.record.CreatedAt(), c.env.Now()))
	for {
		if _, err := d.tty.Write([]byte(text + reasonLines(r.verdict))); err != nil {
			return "", err
		}
		choice, err := d.ask(choiceLine, "rsvd", "")
		if err != nil {
			return "", fail(exitNeedsAnswer, "git checkpoint resume --choice r", "%w", err)
		}
		switch choice {
		case "v":
			data, err := r.record.Encode()
			if err != nil {
				return "", err
			}
			if _, err := d.tty.Write([]byte(output.CleanBlock(string(data)) + "\n")); err != nil {
				return "", err
			}
		case "r":
			return choice, c.askRest(d, r)
		default:
			return choice, nil
		}
	}
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
			answer, err := d.ask("Issue body changed since checkpoint. Resume? [y/N] ", "yn", "n")
			if err != nil {
				return fail(exitNeedsAnswer, "git checkpoint resume --yes", "%w", err)
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

// askFiles asks what becomes of files that changed since the checkpoint.
func (c *call) askFiles(d *dialog, r *resumption, paths []string) error {
	text := fmt.Sprintf("Changed since the checkpoint: %s\nKeep (m)ine, take the (c)heckpoint's, mer(g)e, or (a)bort? [m] ", output.Clean(list(paths)))
	answer, err := d.ask(text, "mcga", "m")
	if err != nil {
		return fail(exitNeedsAnswer, "git checkpoint resume --changed mine", "%w", err)
	}
	switch answer {
	case "a":
		return silent{exitNone}
	case "c":
		r.changed = gitstore.FromCheckpoint
	case "g":
		r.changed = gitstore.Merged
	}
	return nil
}

// startFresh archives the chain: the work begins anew, and nothing is lost.
func (c *call) startFresh(r *resumption) error {
	if c.flags.Bool("dry-run") {
		c.say("would archive the checkpoints of issue %s", r.cp.Issue)
		return silent{exitStartFresh}
	}
	moved, err := c.store.Archive(c.ctx, r.cp.Issue, nil)
	var none *gitstore.NoneError
	if err != nil && !errors.As(err, &none) {
		return err
	}
	c.say("archived %s; git checkpoint undo %s brings them back", plural(len(moved), "checkpoint"), quoteArg(string(r.cp.Issue)))
	return silent{exitStartFresh}
}

// deleteChain drops the chain without starting anything.
func (c *call) deleteChain(r *resumption) error {
	l, err := c.store.List(c.ctx, r.cp.Issue, 0)
	if err != nil {
		return err
	}
	var ids []checkpoint.ID
	for _, cp := range l.Checkpoints {
		if cp.ID != "" {
			ids = append(ids, cp.ID)
		}
	}
	if c.flags.Bool("dry-run") {
		c.say("would drop %s", plural(len(ids), "checkpoint"))
		return silent{exitNone}
	}
	if err := c.store.Drop(c.ctx, r.cp.Issue, ids); err != nil {
		return err
	}
	c.say("dropped %s; git checkpoint undo %s brings them back", plural(len(ids), "checkpoint"), quoteArg(string(r.cp.Issue)))
	return silent{exitNone}
}

// resume restores the files and says where to go on.
func (c *call) resume(r *resumption) error {
	if r.verdict.Action == freshness.StartFresh && !c.flags.Bool("force") {
		return c.refuse(r)
	}
	dryRun := c.flags.Bool("dry-run")
	if !c.flags.Bool("no-files") && c.store.Root() != "" {
		var err error
		r.restored, err = c.store.Restore(c.ctx, gitstore.RestoreRequest{
			Checkpoint: r.cp, Changed: r.changed, DryRun: dryRun, AnyHead: c.flags.Bool("force"),
		})
		if err != nil {
			return err
		}
	}
	if !dryRun && c.store.Root() != "" {
		if err := c.store.SetResumed(r.cp); err != nil {
			return err
		}
	}
	return c.showResumed(r)
}

func (c *call) showResumed(r *resumption) error {
	if c.json {
		return c.write(resumeRecord(r))
	}
	switch c.flags.String("print") {
	case "env":
		c.printEnv(r)
		return nil
	case "prompt":
		c.printPrompt(r)
		return nil
	}
	c.print("%s\n", output.Clean(fmt.Sprintf("%s, from %s (%s)", heading(r.cp, r.record), r.cp.ID, ago(r.record.CreatedAt(), c.env.Now()))))
	c.print("Progress: %s\n", output.Clean(progressLine(r.record)))
	c.showReasons(r.verdict)
	if r.restored != nil {
		c.showRestored(r.restored, c.flags.Bool("dry-run"))
	}
	if ids := r.record.Conflicts(); len(ids) > 0 {
		c.print("Conflicts in progress: %s\n", output.Clean(list(ids)))
	}
	c.print("%s\n", output.Clean(resumePoint(r)))
	return nil
}

// resumePoint is where to go on; a record that does not say stands for itself.
func resumePoint(r *resumption) string {
	return first(standingOf(r.record).from, string(r.cp.ID))
}

func resumeRecord(r *resumption) output.Resume {
	out := output.Resume{Status: statusRecord("resume", r.cp, r.record, r.verdict)}
	if data, err := r.record.JSON(); err == nil {
		out.Checkpoint = json.RawMessage(data)
	}
	if r.restored != nil {
		out.Restored, out.Undo = quotePaths(r.restored.Restored), r.restored.Undo
	}
	return out
}

// printEnv prints what a shell evaluates.
func (c *call) printEnv(r *resumption) {
	at := standingOf(r.record)
	for _, v := range [][2]string{
		{"CHECKPOINT_ACTION", r.verdict.Action.String()},
		{"CHECKPOINT_ID", string(r.cp.ID)},
		{"CHECKPOINT_RESUME_FROM", resumePoint(r)},
		{"CHECKPOINT_CURRENT_PHASE", at.current},
		{"CHECKPOINT_COMPLETED_PHASES", strings.Join(at.completed, ",")},
		{"SKIP_TO_PHASE", at.current},
	} {
		c.print("%s=%s\n", v[0], output.Shell(v[1]))
	}
}

// printPrompt prints what a new session of an agent should know.
func (c *call) printPrompt(r *resumption) {
	at := standingOf(r.record)
	c.print("Work on %s was saved %s.\n", output.Clean(workName(r.cp, r.record)), ago(r.record.CreatedAt(), c.env.Now()))
	if len(at.completed) > 0 {
		c.print("Completed phases, not to be done again: %s\n", output.Clean(list(at.completed)))
	}
	if len(at.remaining) > 0 {
		c.print("Remaining phases: %s\n", output.Clean(list(at.remaining)))
	}
	if note := r.record.Note(); note != "" {
		c.print("Note: %s\n", output.Clean(note))
	}
	c.print("Continue from: %s\n", output.Clean(resumePoint(r)))
}
