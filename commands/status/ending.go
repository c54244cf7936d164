package status

import (
	"errors"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
)

// endingOf returns the end of the work if err reports an issue without checkpoints in its
// chain, or nil.
func endingOf(c *invoke.Invocation, err error) *view.Ending {
	var none *gitstore.NoneError
	if !errors.As(err, &none) {
		return nil
	}
	return work.EndingOf(c, none.Issue)
}

// statusEnded prints the status of finished work. Nothing can be resumed, so --check exits
// with failure.None.
func statusEnded(c *invoke.Invocation, o *statusOptions, e *view.Ending) error {
	if err := showEnding(c, o, e); err != nil {
		return err
	}
	if o.check {
		return failure.Silent{Code: failure.None}
	}
	return nil
}

func showEnding(c *invoke.Invocation, o *statusOptions, e *view.Ending) error {
	if c.Line.JSON {
		out := view.StatusOfEnding(e)
		out.Warnings = append(out.Warnings, c.TakeWarnings()...)
		return c.WriteJSON(out)
	}
	rows := e.Rows(c.Env.Now())
	if o.markdown {
		c.Printf("**Issue %s**\n\n%s", view.Code(strings.TrimPrefix(e.Heading(), "Issue ")), view.Markdown(rows))
		return nil
	}
	at, people, err := c.Screen(o.color)
	switch {
	case err != nil:
		return err
	case people:
		c.Printf("%s", e.Screen(at, rows))
	default:
		c.Printf("%s\n%s", view.Clean(e.Heading()), view.Plain(rows))
		c.Infof("hint: %s", e.Hint())
	}
	return nil
}
