package issue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// A Command is a program that prints an issue, as an issue file in JSON. A
// shell runs it, as git runs programs that its configuration names, with the
// issue as an argument that no shell takes apart.
type Command struct {
	Line   string
	Dir    string
	Env    []string  // nil for the process's own
	Stderr io.Writer // nil for nowhere
}

// afterKill is how long a program that was killed may keep its output open.
const afterKill = 100 * time.Millisecond

// Issue runs the program until the context ends, which kills it and what it
// started. Neither the program's text nor what it prints is in the error: there
// may be a token in them.
func (c Command) Issue(ctx context.Context, key string) (*Issue, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// "$@" hands the issue on even where the line is `a b` or ends in a comment.
	cmd := exec.CommandContext(ctx, "sh", "-c", c.Line+` "$@"`, "issue_command", key)
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.WaitDelay = c.Dir, c.Env, c.Stderr, afterKill
	killTree(cmd)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, errors.New("issue_command: there is no shell to run it")
	}
	// What the program started may have got away from the kill.
	defer context.AfterFunc(ctx, func() { _ = out.Close() })()
	data, readErr := io.ReadAll(io.LimitReader(out, MaxBytes+1))
	large := len(data) > MaxBytes
	if large {
		cancel() // or it would wait for somebody to read on
	}
	err = cmd.Wait()
	switch {
	case large:
		return nil, fmt.Errorf("issue_command: prints more than %d MiB", MaxBytes>>20)
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	case ctx.Err() != nil:
		return nil, fmt.Errorf("issue_command: no answer in time: %w", ctx.Err())
	case err != nil:
		return nil, fmt.Errorf("issue_command: %s", ending(err))
	case readErr != nil:
		return nil, errors.New("issue_command: its output cannot be read")
	}
	found, err := ParseFile(data)
	if err != nil {
		return nil, fmt.Errorf("issue_command: its output: %w", err)
	}
	found.Source = "issue_command"
	return found, nil
}

func ending(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ProcessState.String()
	}
	return "did not end well"
}
