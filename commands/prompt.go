package commands

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// maxAsks is how often a question is put before the program gives up.
const maxAsks = 3

// errNoAnswer says that a question was not answered.
var errNoAnswer = errors.New("no answer")

// A dialog asks a person at a terminal.
type dialog struct {
	tty io.ReadWriteCloser
	in  *bufio.Reader
}

// dialog opens the terminal. Without one the question needs an answer in a
// flag, which the hint names.
func (c *call) dialog(hint string) (*dialog, error) {
	tty, err := c.env.Tty()
	if err != nil {
		return nil, fail(exitNeedsAnswer, hint, "a question would have to be asked, and there is no terminal")
	}
	return &dialog{tty: tty, in: bufio.NewReader(tty)}, nil
}

func (d *dialog) close() { d.tty.Close() }

// ask puts a question until one of the answers comes; fallback, if any, stands
// for an empty line. The end of the input is no answer, never a default.
func (d *dialog) ask(question, answers, fallback string) (string, error) {
	for range maxAsks {
		if _, err := io.WriteString(d.tty, question); err != nil {
			return "", err
		}
		line, err := d.in.ReadString('\n')
		answer := strings.ToLower(strings.TrimSpace(line))
		if err != nil && answer == "" {
			break
		}
		if answer == "" {
			answer = fallback
		}
		if answer != "" && strings.HasPrefix(answer, answer[:1]) && strings.Contains(answers, answer[:1]) && knownAnswer(answer) {
			return answer[:1], nil
		}
	}
	return "", errNoAnswer
}

// knownAnswer accepts a letter or one of the words it stands for.
func knownAnswer(answer string) bool {
	switch answer {
	case "resume", "start", "start fresh", "view", "delete", "yes", "no", "mine", "checkpoint", "merge", "abort":
		return true
	}
	return len(answer) == 1
}

// confirm asks a yes/no question whose default is no.
func (c *call) confirm(question, hint string) (bool, error) {
	d, err := c.dialog(hint)
	if err != nil {
		return false, err
	}
	defer d.close()
	answer, err := d.ask(question, "yn", "n")
	if errors.Is(err, errNoAnswer) {
		return false, fail(exitNeedsAnswer, hint, "%w", err)
	}
	return answer == "y", err
}

// resumePrompt is what a person is asked about a checkpoint: the prompt of
// rows S1.50 to S1.54.
func resumePrompt(cp *gitstore.Checkpoint, r *checkpoint.Record, age string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Found existing checkpoint for \"%s\"\n", output.Clean(workName(cp, r)))
	fmt.Fprintf(&b, "Created: %s (%s)\n", r.CreatedAt().UTC().Format("2006-01-02 15:04:05"), age)
	fmt.Fprintf(&b, "Progress: %s\n", output.Clean(progressLine(r)))
	b.WriteString("\nOptions:\n")
	fmt.Fprintf(&b, "  (r)esume - Continue from %s\n", output.Clean(continueFrom(r)))
	b.WriteString("  (s)tart fresh - Delete checkpoint and restart\n")
	b.WriteString("  (v)iew details - Show checkpoint contents\n")
	b.WriteString("  (d)elete - Remove checkpoint without starting\n\n")
	return b.String()
}

// choiceLine ends the prompt.
const choiceLine = "Choice [r/s/v/d]: "

// workName is what the work is called: its description, the issue's title, or
// the issue.
func workName(cp *gitstore.Checkpoint, r *checkpoint.Record) string {
	if v, ok := r.Doc().Lookup("workflow.description"); ok {
		if s, ok := v.(string); ok && s != "" {
			return s
		}
	}
	return first(r.IssueSnapshot().Title, "issue "+string(cp.Issue))
}
