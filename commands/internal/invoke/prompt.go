package invoke

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"git-checkpoint/commands/internal/exit"
)

// maxAsks limits the attempts of a question.
const maxAsks = 3

// ErrNoAnswer reports that a question got no valid answer.
var ErrNoAnswer = errors.New("no answer")

// YesNo maps the answers to a question whose default is no.
var YesNo = map[string]string{"y": "y", "yes": "y", "n": "n", "no": "n", "": "n"}

// A Dialog asks questions at a terminal.
type Dialog struct {
	ctx context.Context
	TTY io.ReadWriteCloser
	in  *bufio.Reader
}

// Dialog opens the terminal. Without a terminal it fails with a hint, which contains the
// flag that answers the question.
func (c *Invocation) Dialog(hint string) (*Dialog, error) {
	tty, err := c.Env.Tty()
	if err != nil {
		return nil, exit.Errorf(exit.NeedsAnswer, hint, "%s: a question would have to be asked, and %w", c.Name, err)
	}
	return &Dialog{ctx: c.Ctx, TTY: tty, in: bufio.NewReader(tty)}, nil
}

// Close closes the terminal.
func (d *Dialog) Close() { d.TTY.Close() }

// Ask repeats a question until it gets one of the answers, and returns the value of the
// answer. The answer "" is the default for an empty line. The end of the input is no
// answer, so the default does not apply.
func (d *Dialog) Ask(question string, answers map[string]string) (string, error) {
	for range maxAsks {
		if _, err := io.WriteString(d.TTY, question); err != nil {
			return "", err
		}
		line, err := d.line()
		if d.ctx.Err() != nil {
			_, _ = io.WriteString(d.TTY, "\n") // later output begins on a new line
			return "", d.ctx.Err()
		}
		answer := strings.ToLower(strings.TrimSpace(line))
		if err != nil && answer == "" {
			break
		}
		if meant, ok := answers[answer]; ok {
			return meant, nil
		}
	}
	_, _ = io.WriteString(d.TTY, "\n")
	return "", ErrNoAnswer
}

// line reads a line, or returns at Ctrl+C. A signal does not interrupt a read from a
// terminal, so the read runs in a goroutine.
func (d *Dialog) line() (string, error) {
	type read struct {
		line string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		line, err := d.in.ReadString('\n')
		done <- read{line, err}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-d.ctx.Done():
		return "", d.ctx.Err()
	}
}

// Confirm asks a yes/no question whose default is no.
func (c *Invocation) Confirm(question, hint string) (bool, error) {
	if c.JSON {
		return false, exit.Errorf(exit.NeedsAnswer, hint, "%s: a question would have to be asked, and --json asks none", c.Name)
	}
	d, err := c.Dialog(hint)
	if err != nil {
		return false, err
	}
	defer d.Close()
	answer, err := d.Ask(question, YesNo)
	if errors.Is(err, ErrNoAnswer) {
		return false, exit.Errorf(exit.NeedsAnswer, hint, "%s: %w", c.Name, err)
	}
	return answer == "y", err
}
