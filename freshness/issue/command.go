package issue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// A Command is a program that prints an issue file in JSON. A shell runs Line, as git
// runs commands from its configuration. The issue is a separate argument, so the shell
// does not split or expand it.
type Command struct {
	Line   string
	Dir    string
	Env    []string  // nil for the environment of this process
	Stderr io.Writer // nil discards output
}

// afterKill limits the wait for a killed program to close its output.
const afterKill = 100 * time.Millisecond

// Issue runs the command and returns the parsed issue. If the context ends, it kills the
// command and its child processes. Errors contain neither the command line nor its
// output, because both may contain tokens.
func (c Command) Issue(ctx context.Context, key string) (*Issue, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// "$@" passes the issue also if the line is `a b` or ends with a comment.
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
	// A child process may have escaped the kill.
	defer context.AfterFunc(ctx, func() { _ = out.Close() })()
	data, readErr := io.ReadAll(io.LimitReader(out, MaxBytes+1))
	large := len(data) > MaxBytes
	if large {
		cancel() // otherwise the program would block on a full pipe
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
