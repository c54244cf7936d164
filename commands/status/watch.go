package status

import (
	"bytes"
	"errors"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
)

// clearScreen moves the cursor to the first column and line, and erases the screen.
const clearScreen = "\x1b[H\x1b[2J"

// watch prints the status again whenever it changes, until the command is interrupted, or the
// terminal is gone: a process without a controlling terminal gets no signal then.
func watch(c *invoke.Invocation, o *statusOptions) error {
	if !c.AtTerminal() || c.Line.JSON {
		return failure.Errorf(failure.Usage, "git checkpoint web", "status: --watch needs a terminal")
	}
	shown := ""
	for {
		text, err := look(c, *o)
		switch {
		case c.Ctx.Err() != nil:
			return nil
		case errors.As(err, new(*gitstore.NoneError)):
			text = view.Clean(err.Error()) + "\n"
		case err != nil:
			return err
		}
		if text != shown {
			c.Printf("%s%s", clearScreen, text)
			shown = text
		}
		select {
		case <-c.Ctx.Done():
			return nil
		case <-time.After(2 * time.Second):
		}
		if !c.AtTerminal() || c.Out.Err != nil {
			return nil
		}
	}
}

// look returns the status, from a store of its own: the repository changes meanwhile.
func look(c *invoke.Invocation, o statusOptions) (string, error) {
	var text bytes.Buffer
	own := c.Fork(c.Ctx)
	own.Out.Writer, own.Out.Quiet = &invoke.Writer{W: &text}, true
	defer own.Close()
	err := own.Open()
	if err == nil {
		o.judge.Look = &gitstore.Look{}
		err = printStatus(own, &o)
	}
	return text.String(), err
}
