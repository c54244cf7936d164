package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/hook/install"
	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/output"

	"github.com/urfave/cli/v2"
)

var hookCommand = command{
	name: "hook", usage: "what an installed hook calls", args: "pre-push|post-checkout|session-start|pre-compact|session-end|stop|event [ARGUMENT...]", max: 1000, category: "Setup",
	description: "Exits 0 whatever happens and says at most one line, so that no push, checkout or\n" +
		"session is ever hurt; only hooks.pre_push: block lets pre-push stop a push. No\n" +
		"settings file gets `stop`: it exits 2, by which an agent's stop hook makes it go\n" +
		"on, for the lead session of a pipeline whose newest checkpoint is not complete.\n" +
		"GIT_CHECKPOINT_SKIP=1 makes it do nothing.",
	examples:   []string{"git checkpoint hook session-start claude"},
	mayBeEmpty: []string{"agent"},
	flags:      func() []cli.Flag { return nil },
	run:        runHook,
}

// skipVariable disables hooks. It is set for the processes that a hook starts, because a
// push runs hooks again.
const skipVariable = "GIT_CHECKPOINT_SKIP"

// hookTime limits the run time of a hook that only prints a notice.
const hookTime = 2 * time.Second

// hookRuns maps hook names to functions. An error is printed in one line; only an error
// of type *blocked stops git.
var hookRuns = map[string]func(*Invocation, []string) error{
	"pre-push":      (*Invocation).prePush,
	"post-checkout": (*Invocation).postCheckout,
	"session-start": (*Invocation).sessionStart,
	"pre-compact":   func(c *Invocation, args []string) error { return c.sessionSave("interval", false) },
	"session-end":   func(c *Invocation, args []string) error { return c.sessionSave("session_end", true) },
	"stop":          (*Invocation).sessionStop,
	"event":         (*Invocation).event,
}

func runHook(c *Invocation) error {
	if len(c.args) == 0 {
		return exit.Usagef("hook: which one?")
	}
	run := hookRuns[c.args[0]]
	if run == nil {
		return exit.Usagef("hook: %q is none of %s", c.args[0], strings.Join(hookNames(), ", "))
	}
	if word := c.env.Getenv(install.CanaryVariable); word != "" {
		fmt.Fprintln(c.env.Stderr, output.Clean(word))
		return nil
	}
	if skip := c.env.Getenv(skipVariable); skip != "" && !off(skip) {
		return nil
	}
	return c.harmless(c.args[0], run)
}

// openQuickly opens the repository within hookTime, for a hook that only prints a notice.
// It reports whether the setting enabled is on.
func (c *Invocation) openQuickly() (done context.CancelFunc, on bool, err error) {
	c.ctx, done = context.WithTimeout(c.ctx, hookTime)
	if err := c.open(); err != nil {
		return done, false, err
	}
	return done, c.settings.Bool("enabled"), nil
}

func hookNames() []string {
	var names []string
	for name := range hookRuns {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// A blocked error makes a hook exit with a code that stops git or an agent.
type blocked struct {
	code int
	err  error
}

func (b *blocked) Error() string { return b.err.Error() }

// harmless runs a hook. An error or a panic becomes one line on standard error, and the
// hook succeeds, unless the error is of type *blocked.
func (c *Invocation) harmless(name string, run func(*Invocation, []string) error) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			fmt.Fprintf(c.env.Stderr, "git-checkpoint: %s: %s\n", name, output.Clean(fmt.Sprint(broken)))
			err = nil
		}
	}()
	c.quiet, c.offline = true, true
	err = run(c, c.args[1:])
	if err == nil {
		return nil
	}
	fmt.Fprintf(c.env.Stderr, "git-checkpoint: %s: %s\n", name, output.Clean(phrase.FirstLine(err.Error())))
	if b, ok := err.(*blocked); ok {
		return exit.Silent{Code: b.code}
	}
	return nil
}

// notify prints the one line of a hook to standard error.
func (c *Invocation) notify(format string, args ...any) {
	fmt.Fprintf(c.env.Stderr, "git-checkpoint: %s\n", output.Clean(fmt.Sprintf(format, args...)))
}
