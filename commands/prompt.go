package commands

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

// errNoAnswer reports that a question got no valid answer.
var errNoAnswer = errors.New("no answer")

// yesNo maps the answers to a question whose default is no.
var yesNo = map[string]string{"y": "y", "yes": "y", "n": "n", "no": "n", "": "n"}

// A dialog asks questions at a terminal.
type dialog struct {
	ctx context.Context
	tty io.ReadWriteCloser
	in  *bufio.Reader
}

// dialog opens the terminal. Without a terminal it fails with a hint, which contains the
// flag that answers the question.
func (c *Invocation) dialog(hint string) (*dialog, error) {
	tty, err := c.env.Tty()
	if err != nil {
		return nil, exit.Errorf(exit.NeedsAnswer, hint, "%s: a question would have to be asked, and %w", c.command, err)
	}
	return &dialog{ctx: c.ctx, tty: tty, in: bufio.NewReader(tty)}, nil
}

func (d *dialog) close() { d.tty.Close() }

// ask repeats a question until it gets one of the answers, and returns the value of the
// answer. The answer "" is the default for an empty line. The end of the input is no
// answer, so the default does not apply.
func (d *dialog) ask(question string, answers map[string]string) (string, error) {
	for range maxAsks {
		if _, err := io.WriteString(d.tty, question); err != nil {
			return "", err
		}
		line, err := d.line()
		if d.ctx.Err() != nil {
			_, _ = io.WriteString(d.tty, "\n") // later output begins on a new line
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
	_, _ = io.WriteString(d.tty, "\n")
	return "", errNoAnswer
}

// line reads a line, or returns at Ctrl+C. A signal does not interrupt a read from a
// terminal, so the read runs in a goroutine.
func (d *dialog) line() (string, error) {
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

// confirm asks a yes/no question whose default is no.
func (c *Invocation) confirm(question, hint string) (bool, error) {
	if c.json {
		return false, exit.Errorf(exit.NeedsAnswer, hint, "%s: a question would have to be asked, and --json asks none", c.command)
	}
	d, err := c.dialog(hint)
	if err != nil {
		return false, err
	}
	defer d.close()
	answer, err := d.ask(question, yesNo)
	if errors.Is(err, errNoAnswer) {
		return false, exit.Errorf(exit.NeedsAnswer, hint, "%s: %w", c.command, err)
	}
	return answer == "y", err
}
