package save

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/guard"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/issuesource"
	"git-checkpoint/commands/internal/pushing"
	"git-checkpoint/commands/internal/saving"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

// RunCommand declares git checkpoint run.
var RunCommand = invoke.Command{
	Name: "run", Usage: "run a command under protection", Args: "[ISSUE] -- CMD...", Max: 1, Category: "Record",
	Description: "Ctrl+C, SIGTERM and SIGHUP save a checkpoint (user_interrupt) before CMD is told; a\n" +
		"CMD that fails or is killed leaves one (session_end). A second Ctrl+C ends CMD at\n" +
		"once. Exits with CMD's code, 128+n where signal n ended it.\n\n" +
		"At a terminal CMD is in the foreground as if it had been typed: Ctrl+C reaches it\n" +
		"from the terminal, while the checkpoint is saved, and is not passed on again. Git, as\n" +
		"the parent of `git checkpoint`, always dies of it; `git-checkpoint run` does not.",
	Examples: []string{
		"git checkpoint run 42 -- make release",
		"git checkpoint run --every 10m --push -- ./agent.sh",
		"git checkpoint run --timeout 50m --retry-transient 3 -- ./job.sh",
	},
	Flags: runFlags,
	Run:   runRun,
}

// runFlags returns the flags of run: save's content flags, with worktree and untracked on
// by default, and the flags of the run itself.
func runFlags() []cli.Flag {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "every", Usage: "save a checkpoint (interval) every `DURATION`, as 10m, when something changed"},
		&cli.StringFlag{Name: "timeout", Usage: "after `DURATION`, retries and all, save a checkpoint (session_end) and end CMD"},
		&cli.IntFlag{Name: "retry-transient", Usage: "start CMD again up to `N` times where the network or a limit failed it"},
		&cli.StringFlag{Name: "retry-wait", Usage: "wait `DURATION` before the first retry, twice as long before each one after", Value: "2s"},
		pushing.Flag(),
	}
	skip := []string{"trigger", "agent", "action", "conflict", "batch", "worktree", "untracked"}
	for _, f := range contentFlags() {
		if !slices.Contains(skip, f.Names()[0]) {
			flags = append(flags, f)
		}
	}
	return append(flags,
		&cli.BoolFlag{Name: "worktree", Usage: "keep unstaged changes too; on, --worktree=false leaves them", Value: true},
		&cli.BoolFlag{Name: "untracked", Usage: "keep untracked files too, never ignored ones; on, --untracked=false leaves them", Value: true},
	)
}

// Exit codes of shells for a command that cannot be run.
const (
	exitCannotRun = 126
	exitNoCommand = 127
)

func runRun(c *invoke.Invocation) error {
	limits, err := runLimits(c)
	if err != nil {
		return err
	}
	path, err := lookCommand(c.Paths)
	if err != nil {
		return err
	}
	if err := saving.OpenFor(c, checkpoint.UserInterrupt); err != nil {
		return err
	}
	issue, err := c.WatchedIssue("git checkpoint run ISSUE -- CMD")
	if err != nil {
		return err
	}
	if _, err := saving.Request(c, issue, checkpoint.UserInterrupt, saving.Input{Content: true}); err != nil {
		return err // a wrong flag must fail now, not at the first save
	}
	if err := c.Ctx.Err(); err != nil {
		return err
	}
	k := &keeper{c: c, issue: issue, warned: map[string]bool{}}
	if from, err := issuesource.Choose(c, issue); err == nil {
		k.slow = !from.Guessed && (from.Kind == "forge" || from.Kind == "command")
	}
	k.guard = &guard.Guard{
		Path: path, Args: c.Paths, Env: append(os.Environ(), "GIT_CHECKPOINT_ISSUE="+string(issue)),
		Limits: limits, Work: k, ByGit: c.Env.Getenv("GIT_EXEC_PATH") != "",
	}
	code, err := k.guard.Run(c.Ctx)
	if err != nil {
		return cannotRun(exitCannotRun, c.Paths[0], errors.Unwrap(err))
	}
	if err := k.report(); err != nil {
		return err
	}
	if code != 0 {
		return exit.Silent{Code: code}
	}
	return nil
}

// runLimits reads the flags and rejects values that would fail only later.
func runLimits(c *invoke.Invocation) (l guard.Limits, err error) {
	for name, d := range map[string]*time.Duration{"every": &l.Every, "timeout": &l.Timeout, "retry-wait": &l.Wait} {
		text := c.Flags.String(name)
		if text == "" {
			continue
		}
		if *d, err = parseDuration(text); err != nil || *d <= 0 {
			return l, exit.Usagef("run: --%s: %q is no duration, such as 90s, 10m or 2h", name, text)
		}
	}
	if l.Retries = c.Flags.Int("retry-transient"); l.Retries < 0 {
		return l, exit.Usagef("run: --retry-transient: %d is no number of retries", l.Retries)
	}
	if c.Flags.String("state") == "-" {
		return l, exit.Usagef("run: --state: standard input is CMD's; name a file")
	}
	return l, nil
}

// parseDuration parses a duration. A bare number means seconds.
func parseDuration(text string) (time.Duration, error) {
	if n, err := strconv.Atoi(text); err == nil {
		return time.Duration(n) * time.Second, nil
	}
	return time.ParseDuration(text)
}

// lookCommand returns the path of the program. Its errors carry the exit codes of shells.
func lookCommand(words []string) (string, error) {
	if len(words) == 0 {
		return "", exit.Errorf(exit.Usage, "git checkpoint run -- CMD", "run: which command? It stands after --")
	}
	path, err := exec.LookPath(words[0])
	switch {
	case err == nil || errors.Is(err, exec.ErrDot):
		return path, nil
	case errors.Is(err, os.ErrPermission):
		return "", cannotRun(exitCannotRun, words[0], "permission denied")
	}
	return "", cannotRun(exitNoCommand, words[0], "command not found")
}

func cannotRun(code int, name string, why any) error {
	return exit.CodeErrorf(code, "run: %s: %v", name, why)
}
