package work

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore/checkpoint"
)

// ShowRecord prints a record. The encoder escapes unprintable text, and on a terminal
// CleanBlock escapes remaining control characters.
func ShowRecord(c *invoke.Invocation, r *checkpoint.Record, format string) error {
	encode := r.Encode
	if format == "json" {
		encode = func() ([]byte, error) {
			data, err := r.JSON()
			return append(data, '\n'), err
		}
	}
	data, err := encode()
	if err != nil {
		return err
	}
	return ShowText(c, data)
}

// ShowText prints a text that may contain control characters, in the pager if it is long.
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
