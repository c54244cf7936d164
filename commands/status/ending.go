package status

import (
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
)

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
