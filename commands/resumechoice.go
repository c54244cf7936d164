package commands

import (
	"errors"
	"strings"

	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
)

// choose finds out what to do where no flag says it. A person at a terminal is
// always asked; elsewhere only what needs an answer stops a resume.
func (c *Invocation) choose(r *resumption) (string, error) {
	if c.flags.Bool("dry-run") || c.flags.Bool("force") {
		return "r", nil
	}
	d, err := c.dialog("")
	if err == nil {
		defer d.close()
	}
	nobody := err != nil || c.auto() || c.json
	if nobody && r.verdict.Action == freshness.PromptUser {
		return "", c.needsAnswer(r)
	}
	if err := c.stop(r); err != nil || nobody {
		return "r", err
	}
	return c.askChoice(d, r)
}

// stop refuses what no answer makes right: a checkpoint that cannot be resumed,
// and with --strict one that has warnings.
func (c *Invocation) stop(r *resumption) error {
	switch {
	case c.flags.Bool("force"):
		return nil
	case r.verdict.Action == freshness.StartFresh:
		return c.refuse(r)
	case r.verdict.Stale:
		return c.because(r, exitStale, r.command("--yes"), "resume %s: %s", r.verdict.Warnings())
	}
	return nil
}

// because fails after printing what scripts read.
func (c *Invocation) because(r *resumption, code int, hint, format string, why []string) error {
	if err := c.showOutcome(r); err != nil {
		return err
	}
	return fail(code, hint, format, r.cp.ID, strings.Join(why, "; "))
}

// refuse explains why a checkpoint cannot be resumed.
func (c *Invocation) refuse(r *resumption) error {
	why, hint := r.reasons(freshness.StartFresh)
	return c.because(r, exitStartFresh, first(hint, r.command("--force")), "cannot resume %s: %s", why)
}

// needsAnswer says that a person would have to decide. The hint is the command
// that works: where HEAD is elsewhere no flag but --force does.
func (c *Invocation) needsAnswer(r *resumption) error {
	why, _ := r.reasons(freshness.PromptUser)
	hint := r.command(r.answers("--yes"))
	for _, reason := range r.verdict.Reasons {
		if reason.Check == "head" && reason.Action == freshness.PromptUser && !c.noFiles() {
			hint = first(reason.Hint, hint)
		}
	}
	return c.because(r, exitNeedsAnswer, hint, "resume %s: %s", why)
}

// reasons are the messages that led to an action, and the last hint of theirs.
func (r *resumption) reasons(a freshness.Action) (messages []string, hint string) {
	for _, reason := range r.verdict.Reasons {
		if reason.Action == a {
			messages = append(messages, reason.Message)
			hint = first(reason.Hint, hint)
		}
	}
	return messages, hint
}

// command is the command to type that resumes this checkpoint with a flag.
func (r *resumption) command(flag string) string {
	text := "git checkpoint resume " + quoteArg(string(r.cp.Issue))
	if r.named {
		text += " " + quoteArg(string(r.cp.ID))
	}
	return text + " " + flag
}

// startFresh archives the chain: the work begins anew, and nothing is lost.
func (c *Invocation) startFresh(r *resumption) error {
	r.chosen = "s"
	if c.flags.Bool("dry-run") {
		c.infof("would archive the checkpoints of issue %s", r.cp.Issue)
	} else {
		moved, err := c.store.Archive(c.ctx, r.cp.Issue, nil, retention.ReasonAbandoned)
		var none *gitstore.NoneError
		if err != nil && !errors.As(err, &none) {
			return err
		}
		c.infof("archived %s; git checkpoint undo %s brings them back", plural(len(moved), "checkpoint"), quoteArg(string(r.cp.Issue)))
	}
	return orElse(c.showOutcome(r), silent{exitStartFresh})
}

// deleteChain drops the chain without starting anything.
func (c *Invocation) deleteChain(r *resumption) error {
	r.chosen = "d"
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
		c.infof("would drop %s", plural(len(ids), "checkpoint"))
	} else {
		if err := c.store.Drop(c.ctx, r.cp.Issue, ids); err != nil {
			return err
		}
		c.infof("dropped %s; git checkpoint undo %s brings them back", plural(len(ids), "checkpoint"), quoteArg(string(r.cp.Issue)))
	}
	return orElse(c.showOutcome(r), silent{exitNone})
}

// view shows the checkpoint for --choice v, then asks as after every look.
func (c *Invocation) view(r *resumption) error {
	if err := c.showRecord(r.record, "yaml"); err != nil {
		return err
	}
	d, err := c.dialog(r.command("--choice r"))
	if err != nil {
		return err
	}
	defer d.close()
	choice, err := c.askChoice(d, r)
	if err != nil {
		return err
	}
	return c.act(r, choice)
}
