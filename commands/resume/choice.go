package resume

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/dotagent"
	"git-checkpoint/gitstore/retention"
)

// choose returns the choice if no flag implies it. A person at a terminal is always
// asked, but not by a dry run. Without a terminal, resume stops if the verdict requires an answer.
func choose(c *invoke.Invocation, r *resumption) (string, error) {
	if r.options.force {
		return "r", nil
	}
	d, err := c.Dialog("")
	if err == nil {
		defer d.Close()
	}
	nobody := err != nil || r.options.judge.Auto || c.Line.JSON
	if nobody && r.Verdict.Files.Damaged == "" && r.Verdict.Action == freshness.PromptUser {
		return "", needsAnswer(c, r)
	}
	if err := stopResume(c, r); err != nil || nobody || r.options.dryRun {
		return "r", err
	}
	if r.isContact() {
		return "r", askRest(c, d, r)
	}
	return askChoice(c, d, r)
}

// stopResume returns an error for a checkpoint that cannot be resumed by any answer, and with
// --strict for a checkpoint with warnings.
func stopResume(c *invoke.Invocation, r *resumption) error {
	switch {
	case r.options.force:
		return nil
	case r.Verdict.Files.Damaged != "":
		why, _ := r.reasons(freshness.PromptUser)
		verify := "git checkpoint verify " + view.IssueArg(r.Checkpoint.Issue)
		return because(c, r, failure.Invalid, cmp.Or(invoke.DamageHint(c, r.Checkpoint.Issue), verify), "cannot resume %s: %s", why)
	case r.Verdict.Action == freshness.StartFresh:
		why, hint := r.reasons(freshness.StartFresh)
		return because(c, r, failure.StartFresh, cmp.Or(hint, r.command("--force")), "cannot resume %s: %s", why)
	case r.Verdict.Stale:
		return because(c, r, failure.Stale, r.command("--yes"), "resume %s: %s", r.Verdict.Warnings())
	}
	return nil
}

// because prints the output for scripts and returns a failure.
func because(c *invoke.Invocation, r *resumption, code int, hint, format string, why []string) error {
	if err := showOutcome(c, r); err != nil {
		return err
	}
	return failure.Errorf(code, hint, format, r.Checkpoint.ID, strings.Join(why, "; "))
}

// needsAnswer returns the failure if a question requires a person. Its code is failure.Limit if the
// limit of tokens is passed. Each hint is a
// command that works. If HEAD does not have the commit of the checkpoint, no hint has --yes.
func needsAnswer(c *invoke.Invocation, r *resumption) error {
	why, _ := r.reasons(freshness.PromptUser)
	code := failure.NeedsAnswer
	if slices.ContainsFunc(r.Verdict.Reasons, func(reason freshness.Reason) bool { return reason.Check == freshness.TokensCheck }) {
		code = failure.Limit
	}
	if b := r.otherBranch(); b != nil {
		if b.Place != "" {
			why = append(why, r.Placed())
		}
		return because(c, r, code, branchHints(r), "resume %s: %s", why)
	}
	hint := r.command(r.answers("--yes"))
	for _, reason := range r.Verdict.Reasons {
		if reason.Check == "head" && reason.Action == freshness.PromptUser && !r.options.leavesFiles() {
			hint = withForce(r, reason.Hint)
		}
	}
	return because(c, r, code, hint, "resume %s: %s", why)
}

// withForce returns a hint and the command that resumes in spite of the verdict, one a line.
func withForce(r *resumption, hint string) string {
	return strings.TrimPrefix(hint+"\n"+r.command("--force"), "\n")
}

// reasons returns the messages that led to an action, and their last hint.
func (r *resumption) reasons(a freshness.Action) (messages []string, hint string) {
	for _, reason := range r.Verdict.Reasons {
		if reason.Action == a {
			messages = append(messages, reason.Message)
			hint = cmp.Or(reason.Hint, hint)
		}
	}
	return messages, hint
}

func (r *resumption) command(flag string) string {
	text := "git checkpoint resume " + view.IssueArg(r.Checkpoint.Issue)
	if r.named {
		text += " " + view.QuoteArg(string(r.Checkpoint.ID))
	}
	return text + " " + flag
}

// startCommand returns the command that begins the archived work again: a workflow with
// phases at its first phase, with the same plan and layout.
func (r *resumption) startCommand() string {
	issue, p := view.IssueArg(r.Checkpoint.Issue), r.Record.Progress()
	if r.options.as == "" && len(p.Names) == 0 && p.Total == 0 && r.Record.WorkflowStatus() == "" {
		return "git checkpoint save " + issue
	}
	text, as := "git checkpoint start "+issue, layout.Name(cmp.Or(string(r.options.as), r.Record.Layout()))
	if as != "" {
		text += " --as " + view.QuoteArg(string(as))
	}
	switch plan := r.Record.PlanPath(); {
	case plan != "":
		text += " --plan " + view.QuoteArg(plan)
	case as == dotagent.Name: // its phases are fixed
	case len(p.Names) > 0:
		text += " --phases " + view.QuoteArg(strings.Join(p.Names, ","))
	case p.Total > 0:
		text += fmt.Sprintf(" --phases %d", p.Total)
	}
	return text
}

// startFresh archives the chain, so that work starts again without loss.
func startFresh(c *invoke.Invocation, r *resumption) error {
	r.chosen = "s"
	if r.options.dryRun {
		c.Infof("would archive the checkpoints of issue %s", r.Checkpoint.Issue)
	} else {
		if err := archive(c, r.Checkpoint.Issue); err != nil && !errors.As(err, new(*gitstore.NoneError)) {
			return err
		}
		c.Infof("%s begins again", r.startCommand())
	}
	return cmp.Or[error](showOutcome(c, r), failure.Silent{Code: failure.StartFresh})
}

func archive(c *invoke.Invocation, issue checkpoint.Issue) error {
	moved, err := c.Store.Archive(c.Ctx, issue, nil, retention.ReasonAbandoned)
	if err == nil || errors.As(err, new(*gitstore.NoneError)) {
		c.Infof("archived %s; git checkpoint undo %s restores them", view.Plural(len(moved), "checkpoint"), view.IssueArg(issue))
	}
	return err
}

func deleteChain(c *invoke.Invocation, r *resumption) error {
	r.chosen = "d"
	ids, err := liveIDs(c, r)
	if err != nil {
		return err
	}
	if r.options.dryRun {
		c.Infof("would drop %s", view.Plural(len(ids), "checkpoint"))
	} else {
		if err := c.Store.DropAll(c.Ctx, r.Checkpoint.Issue, ids); err != nil {
			return err
		}
		c.Infof("dropped %s; git checkpoint undo %s restores them", view.Plural(len(ids), "checkpoint"), view.IssueArg(r.Checkpoint.Issue))
	}
	return cmp.Or[error](showOutcome(c, r), failure.Silent{Code: failure.None})
}

func liveIDs(c *invoke.Invocation, r *resumption) ([]checkpoint.ID, error) {
	l, err := c.Store.List(c.Ctx, r.Checkpoint.Issue, 0)
	if err != nil {
		return nil, err
	}
	ids := view.Each(l.Checkpoints, func(cp gitstore.Checkpoint) checkpoint.ID { return cp.ID })
	return slices.DeleteFunc(ids, func(id checkpoint.ID) bool { return id == "" }), nil
}

// viewChoice prints the checkpoint for --choice v and asks the question again.
func viewChoice(c *invoke.Invocation, r *resumption) error {
	data, err := r.details()
	if err != nil {
		return err
	}
	if err := work.ShowText(c, data); err != nil {
		return err
	}
	d, err := c.Dialog(r.command("--choice r"))
	if err != nil {
		return err
	}
	defer d.Close()
	choice, err := askChoice(c, d, r)
	if err != nil {
		return err
	}
	return act(c, r, choice)
}

// corrupted asks whether to start fresh if the newest checkpoint cannot be read. In that
// case the chain moves to the archive and nothing is lost. In all other cases it returns
// the error.
func corrupted(c *invoke.Invocation, r *resumption, cause error) error {
	var damaged *gitstore.CorruptError
	if !errors.As(cause, &damaged) || c.Subject.Issue == "" || len(c.Line.Args) > 1 || r.options.dryRun {
		return cause
	}
	choice := r.options.choice
	if choice == "" && !r.options.judge.Auto {
		choice = askCorrupted(c, cause)
	}
	if choice != "s" {
		return cause
	}
	err := archive(c, c.Subject.Issue)
	switch {
	case err != nil:
		return errors.Join(cause, err)
	case c.Line.JSON:
		err = c.WriteJSON(view.Resume{Status: view.Status{
			Type: "resume", Issue: string(c.Subject.Issue), Action: freshness.StartFresh.String(), Warnings: c.TakeWarnings(),
		}})
	case r.options.print == "env":
		setVariables(c, r, variables{action: freshness.StartFresh.String()})
	}
	if err != nil {
		return err
	}
	return failure.Silent{Code: failure.StartFresh}
}

// askCorrupted returns "s" if a person chooses to start fresh.
func askCorrupted(c *invoke.Invocation, cause error) string {
	if c.Line.JSON {
		return ""
	}
	d, err := c.Dialog("")
	if err != nil {
		return ""
	}
	defer d.Close()
	c.Warnf("%v", cause)
	if answer, err := d.Ask("State appears corrupted. Start fresh? [y/N] ", invoke.YesNo); err == nil && answer == "y" {
		return "s"
	}
	return ""
}
