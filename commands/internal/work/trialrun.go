package work

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
)

// RunInTrial checks out a state in a trial, and runs a command there in the directory that
// corresponds to the working directory. The command prints to standard error. It returns the exit
// code, -1 after a signal. It fails if the command cannot start, or if the context ends.
func RunInTrial(ctx context.Context, c *invoke.Invocation, t *gitstore.Trial, st *gitstore.LineState, words []string) (code int, err error) {
	if err := t.CheckOut(ctx, st.Commit); err != nil {
		return 0, err
	}
	dir := filepath.Join(t.Dir, filepath.FromSlash(c.Store.Prefix()))
	if err := os.MkdirAll(dir, 0o777); err != nil { // the state may lack it
		return 0, err
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(append(t.Environ(), "GIT_CHECKPOINT_ID="+string(st.Checkpoint.ID)), invoke.IssueVariables(st.Checkpoint.Issue, filepath.Join(t.Dir, ".git"))...)
	cmd.Stdout, cmd.Stderr = c.Env.Stderr, c.Env.Stderr
	cmd.WaitDelay = 5 * time.Second
	endGroup(cmd)
	err = cmd.Run()
	if ctx.Err() != nil {
		killGroup(cmd) // some processes ignore SIGTERM
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case errors.As(err, &exit):
		return exit.ExitCode(), nil
	case err != nil:
		return 0, failure.Errorf(failure.Usage, "", "%s: %s: %v", c.Line.Name, words[0], err)
	}
	return 0, nil
}

// SkippedCode is the exit code of a command that cannot test a state, as of git bisect run.
const SkippedCode = 125
