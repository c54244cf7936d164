package hooks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/hook/install"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
)

// HookCommand declares git checkpoint hook.
var HookCommand = invoke.Command{
	Name: "hook", Usage: "run by installed hooks", Args: "pre-push|post-checkout|session-start|prompt|turn|interrupt|pre-compact|session-end|stop|event|pack|push [ARGUMENT...]", Max: 1000, Category: "Setup",
	Hidden: true,
	Description: "Always exits with 0 and prints at most one line, so that no push, checkout or session\n" +
		"fails; only with hooks.pre_push: block can pre-push stop a push. No\n" +
		"settings file gets `stop`: it exits 2, by which an agent's stop hook makes it go\n" +
		"on, for the lead session of a pipeline whose newest checkpoint is not complete.\n" +
		"GIT_CHECKPOINT_SKIP=1 makes it do nothing.",
	Examples: []string{"git checkpoint hook session-start claude"},
	Run:      runHook,
}

// skipVariable disables hooks. It is set for the processes that a hook starts, because a
// push runs hooks again.
const skipVariable = "GIT_CHECKPOINT_SKIP"

// hookTime limits the run time of a hook that only prints a notice.
const hookTime = 2 * time.Second

// hookRuns maps hook names to functions. An error is printed in one line; only an error
// of type *blocked stops git.
var hookRuns = map[string]func(*invoke.Invocation, []string) error{
	"pre-push":      prePush,
	"post-checkout": postCheckout,
	"session-start": sessionStart,
	hook.Turn:       func(c *invoke.Invocation, args []string) error { return sessionSave(c, "turn", args) },
	// The changes of a person since the last turn stay apart from those of the next one. While another
	// agent is in a turn in this worktree, they can be those of that agent.
	hook.Prompt:   func(c *invoke.Invocation, args []string) error { return sessionSave(c, hook.Turn, args) },
	"interrupt":   func(c *invoke.Invocation, args []string) error { return sessionSave(c, "user_interrupt", args) },
	"pre-compact": func(c *invoke.Invocation, args []string) error { return sessionSave(c, "interval", args) },
	"session-end": func(c *invoke.Invocation, args []string) error { return sessionSave(c, "session_end", args) },
	"stop":        sessionStop,
	"event": func(c *invoke.Invocation, args []string) error { // crunch's agents broadcast CHECKPOINT and others
		if len(args) == 0 || args[0] != "CHECKPOINT" {
			return nil
		}
		return sessionSave(c, "manual", nil)
	},
	work.AgeHook: inBackground(func(c *invoke.Invocation) error {
		work.AgeAutomatically(c)
		return nil
	}),
	work.PushHook: inBackground(func(c *invoke.Invocation) error {
		work.PushDue(c)
		return nil
	}),
}

func runHook(c *invoke.Invocation) error {
	if len(c.Line.Args) == 0 {
		return failure.Usagef("hook: which one?")
	}
	run := hookRuns[c.Line.Args[0]]
	if run == nil {
		return failure.Usagef("hook: %q is not one of %s", c.Line.Args[0], strings.Join(slices.Sorted(maps.Keys(hookRuns)), ", "))
	}
	if word := c.Env.Getenv(install.CanaryVariable); word != "" {
		fmt.Fprintln(c.Env.Stderr, view.Clean(word))
		return nil
	}
	if skip := c.Env.Getenv(skipVariable); skip != "" && !invoke.IsOff(skip) {
		return nil
	}
	return harmless(c, c.Line.Args[0], run)
}

// openQuickly opens the repository within hookTime, for a hook that only prints a notice.
// It reports whether the setting enabled is on.
func openQuickly(c *invoke.Invocation, open func() error) (done context.CancelFunc, on bool, err error) {
	c.Ctx, done = context.WithTimeout(c.Ctx, hookTime)
	if err := open(); err != nil {
		return done, false, err
	}
	return done, c.Settings.Bool("enabled"), nil
}

// inBackground returns a hook that the hooks of agents start in the background.
func inBackground(run func(*invoke.Invocation) error) func(*invoke.Invocation, []string) error {
	return func(c *invoke.Invocation, _ []string) error {
		if err := c.Open(); err != nil {
			return err
		}
		return run(c)
	}
}

// A blocked error makes a hook exit with a code that stops git or an agent.
type blocked struct {
	code int
	err  error
}

func (b *blocked) Error() string { return b.err.Error() }

// harmless runs a hook. An error or a panic becomes one line on standard error, and the
// hook succeeds, unless the error is of type *blocked.
func harmless(c *invoke.Invocation, name string, run func(*invoke.Invocation, []string) error) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			fmt.Fprintf(c.Env.Stderr, "git-checkpoint: %s: %s\n", name, view.Clean(fmt.Sprint(broken)))
			err = nil
		}
	}()
	c.Out.Quiet, c.Needs.Offline = true, true
	err = run(c, c.Line.Args[1:])
	if err == nil || errors.Is(err, gitstore.ErrNoRepository) { // hooks of --global run everywhere
		return nil
	}
	text := view.FirstLine(err.Error())
	if errors.Is(err, gitstore.ErrNotRepository) { // git refuses the one that is here
		text = "nothing is saved: " + view.Truncate(err.Error(), 200)
	}
	fmt.Fprintf(c.Env.Stderr, "git-checkpoint: %s: %s\n", name, view.Clean(text))
	if b, ok := err.(*blocked); ok {
		return failure.Silent{Code: b.code}
	}
	return nil
}

// notify prints the one line of a hook to standard error.
func notify(c *invoke.Invocation, format string, args ...any) {
	fmt.Fprintf(c.Env.Stderr, "git-checkpoint: %s\n", view.Clean(fmt.Sprintf(format, args...)))
}
