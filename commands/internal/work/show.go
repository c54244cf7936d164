package work

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
)

// ShowText prints a text that may contain control characters, in the pager if it is long. On a
// terminal it escapes them.
func ShowText(c *invoke.Invocation, data []byte) error {
	if c.AtTerminal() {
		data = []byte(view.CleanBlock(string(data)))
	}
	defer c.Page()()
	_, err := c.Out.Write(data)
	if invoke.LeftPager(err) {
		return nil
	}
	return err
}
