package commands

import (
	"cmp"
	"errors"
	"strings"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
)

// choose returns the choice if no flag implies it. A person at a terminal is always
// asked. Without a terminal, resume stops if the verdict requires an answer.
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

// stop returns an error for a checkpoint that cannot be resumed by any answer, and with
// --strict for a checkpoint with warnings.
func (c *Invocation) stop(r *resumption) error {
	switch {
	case c.flags.Bool("force"):
		return nil
	case r.verdict.Action == freshness.StartFresh:
		return c.refuse(r)
	case r.verdict.Stale:
		return c.because(r, exit.Stale, r.command("--yes"), "resume %s: %s", r.verdict.Warnings())
	}
	return nil
}

// because prints the output for scripts and returns a failure.
func (c *Invocation) because(r *resumption, code int, hint, format string, why []string) error {
	if err := c.showOutcome(r); err != nil {
		return err
	}
	return exit.Errorf(code, hint, format, r.cp.ID, strings.Join(why, "; "))
}

// refuse returns the failure of a checkpoint that cannot be resumed.
func (c *Invocation) refuse(r *resumption) error {
	why, hint := r.reasons(freshness.StartFresh)
	return c.because(r, exit.StartFresh, cmp.Or(hint, r.command("--force")), "cannot resume %s: %s", why)
}

// needsAnswer returns the failure if a question requires a person. The hint is a command
// that works: if HEAD has moved, only --force helps, so the hint of that reason comes
// first.
func (c *Invocation) needsAnswer(r *resumption) error {
	why, _ := r.reasons(freshness.PromptUser)
	hint := r.command(r.answers("--yes"))
	for _, reason := range r.verdict.Reasons {
		if reason.Check == "head" && reason.Action == freshness.PromptUser && !c.noFiles() {
			hint = cmp.Or(reason.Hint, hint)
		}
	}
	return c.because(r, exit.NeedsAnswer, hint, "resume %s: %s", why)
}

// reasons returns the messages that led to an action, and their last hint.
func (r *resumption) reasons(a freshness.Action) (messages []string, hint string) {
	for _, reason := range r.verdict.Reasons {
		if reason.Action == a {
			messages = append(messages, reason.Message)
			hint = cmp.Or(reason.Hint, hint)
		}
	}
	return messages, hint
}

// command returns the command that resumes this checkpoint with a flag.
func (r *resumption) command(flag string) string {
	text := "git checkpoint resume " + phrase.QuoteArg(string(r.cp.Issue))
	if r.named {
		text += " " + phrase.QuoteArg(string(r.cp.ID))
	}
	return text + " " + flag
}

// startFresh archives the chain, so that work starts again without loss.
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
		c.infof("archived %s; git checkpoint undo %s brings them back", phrase.Plural(len(moved), "checkpoint"), phrase.QuoteArg(string(r.cp.Issue)))
	}
	return cmp.Or[error](c.showOutcome(r), exit.Silent{Code: exit.StartFresh})
}

// deleteChain drops the chain and starts no work.
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
		c.infof("would drop %s", phrase.Plural(len(ids), "checkpoint"))
	} else {
		if err := c.store.Drop(c.ctx, r.cp.Issue, ids); err != nil {
			return err
		}
		c.infof("dropped %s; git checkpoint undo %s brings them back", phrase.Plural(len(ids), "checkpoint"), phrase.QuoteArg(string(r.cp.Issue)))
	}
	return cmp.Or[error](c.showOutcome(r), exit.Silent{Code: exit.None})
}

// view prints the checkpoint for --choice v and asks the question again.
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
