package status

import (
	"errors"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/retention"
)

// endingOf returns the end of the work if err reports an issue without checkpoints in its
// chain, or nil.
func endingOf(c *invoke.Invocation, err error) *work.Ending {
	var none *gitstore.NoneError
	if !errors.As(err, &none) {
		return nil
	}
	return work.EndingOf(c, none.Issue)
}

// statusEnded prints the status of finished work. Nothing can be resumed, so --check exits
// with failure.None.
func statusEnded(c *invoke.Invocation, o *statusOptions, e *work.Ending) error {
	if err := showEnding(c, o, e); err != nil {
		return err
	}
	if o.check {
		return failure.Silent{Code: failure.None}
	}
	return nil
}

func showEnding(c *invoke.Invocation, o *statusOptions, e *work.Ending) error {
	if c.JSON {
		out := work.StatusOfEnding(e)
		out.Warnings = append(out.Warnings, c.TakeWarnings()...)
		return c.WriteJSON(out)
	}
	lines := e.Lines(c.Env.Now())
	if o.markdown {
		c.Printf("**Issue %s**\n\n", code(strings.TrimPrefix(e.Heading(), "Issue ")))
		for _, line := range lines {
			c.Printf("- %s: %s\n", markdownLabel(line), code(line.Text))
		}
		return nil
	}
	at, people, err := c.Screen(o.color)
	if err != nil {
		return err
	}
	if !people {
		c.Printf("%s\n", view.Clean(e.Heading()))
		for _, line := range lines {
			c.Printf("%s: %s\n", view.Clean(line.Label()), view.Clean(line.Text))
		}
		c.Infof("hint: %s", e.Hint())
		return nil
	}
	var rows []view.Row
	for _, line := range lines {
		rows = append(rows, view.Row{Label: line.Label(), Text: line.Text})
	}
	rows[0].Style = map[retention.Reason]view.Style{retention.ReasonCompleted: view.Green}[e.Why]
	c.Printf("%s\n\n%s\nhint: %s\n", at.Heading(e.Heading()), at.Sheet(rows), e.Hint())
	return nil
}

// markdownLabel returns the label of a line. A phase's name is in a code span.
func markdownLabel(line work.Line) string {
	if line.Phase == "" {
		return line.Name
	}
	return line.Name + " " + code(line.Phase)
}
