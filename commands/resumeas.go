package commands

import (
	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore/layout"
)

// speak finds the words of --as for the checkpoint that is resumed.
func (c *call) speak(r *resumption) error {
	as, err := c.layoutFlag()
	if err != nil {
		return err
	}
	if r.texts, err = layout.TextsOf(as, r.record); err != nil {
		return fail(exitFailure, "git checkpoint resume "+quoteArg(string(r.cp.Issue)), "resume %s --as %s: %w", r.cp.ID, as, err)
	}
	return nil
}

// yesByDefault are the answers to a question whose default is yes.
var yesByDefault = map[string]string{"y": "y", "yes": "y", "n": "n", "no": "n", "": "y"}

// askAs asks in the words of another system, and after a yes what else must be
// decided. A no resumes nothing and drops nothing.
func (c *call) askAs(d *dialog, r *resumption) (string, error) {
	if _, err := d.tty.Write([]byte(r.texts.Found + reasonLines(r.verdict))); err != nil {
		return "", err
	}
	answer, err := d.ask(r.texts.Question, yesByDefault)
	switch {
	case err != nil:
		return "", c.unanswered(r, r.answers("--yes"), err)
	case answer == "n":
		return "", silent{exitNone}
	}
	return "r", c.askRest(d, r)
}

// showResumedAs is showResumed in those words.
func (c *call) showResumedAs(r *resumption) error {
	c.print("%s", r.texts.Resumed)
	c.showReasons(r.verdict)
	if r.restored != nil {
		c.showRestored(r.restored, c.flags.Bool("dry-run"))
	}
	c.print("%s\n", output.Clean(resumePoint(r)))
	return nil
}
