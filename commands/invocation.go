package commands

import (
	"context"
	"fmt"
	"io"
	"strings"

	"git-checkpoint/commands/config"
	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/output"
	"git-checkpoint/commands/terminal"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

// An Invocation is one run of one command.
type Invocation struct {
	command string // its name
	ctx     context.Context
	env     *Env
	flags   *cli.Context
	args    []string            // before "--"
	paths   []string            // after "--"
	lists   map[string][]string // values of repeatable flags
	json    bool
	out     *writer

	commands []*command // all commands, for help

	warnings []string // with --json, printed at the end

	issueInQuestion checkpoint.Issue // issue of the command, or "" while it is unknown

	ticker          *ticker // may own a line on the terminal; can be nil
	detached        bool    // a goroutine still uses the store
	onlyLooks       bool    // a recent forge answer suffices
	quiet           bool    // suppress warnings
	willSave        bool    // the index will be needed
	ownProcessGroup bool    // terminal signals do not reach git
	offline         bool    // ask no program and no forge for the issue: a hook must not wait
	store           *gitstore.Store
	settings        *config.Settings
	mirror          mirrorKeeper // nil if no layout is mirrored
	startMirror     func(*Invocation) mirrorKeeper
	runLine         func(context.Context, *Env, []string) int // runs another command line
}

// open opens the repository and reads the settings.
func (c *Invocation) open() error {
	store, err := gitstore.Open(c.ctx, gitstore.Options{
		Now: c.env.Now, ToSave: c.willSave, Apart: c.ownProcessGroup, Asks: c.asks, Notify: func(line string) { c.warnf("%s", line) },
	})
	if err != nil {
		return err
	}
	c.store = store
	c.settings, err = config.Load(config.Sources{
		Root: store.Root(), Git: store.Config(), Environ: c.env.Environ, Getenv: c.env.Getenv,
	})
	for _, w := range c.settings.Warnings() {
		c.warnf("%s", w)
	}
	if err == nil {
		c.openMirror()
	}
	return err
}

// A mirrorKeeper synchronizes a layout's files with the checkpoints.
type mirrorKeeper interface {
	End() // writes the files of the issues that the command has changed
	Close()
}

func (c *Invocation) openMirror() {
	if c.mirror == nil && c.startMirror != nil {
		c.mirror = c.startMirror(c)
	}
}

// endMirror updates the mirrored files after the command.
func (c *Invocation) endMirror() {
	if c.mirror != nil {
		c.mirror.End()
	}
}

func (c *Invocation) closeMirror() {
	if c.mirror != nil && !c.detached {
		c.mirror.Close()
	}
}

// asks reports whether git may ask for a password. A hook must not wait for an answer.
func (c *Invocation) asks() bool { return !c.offline && terminal.Has() }

func (c *Invocation) close() {
	if c.store != nil && !c.detached {
		c.store.Close()
	}
}

// warnf prints a warning to standard error. With --json the warning is deferred: if the
// command fails, standard error contains only the JSON object of the error.
func (c *Invocation) warnf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if c.json {
		c.warnings = append(c.warnings, text)
		return
	}
	c.printWarning(text)
}

func (c *Invocation) printWarning(text string) {
	if !c.quiet && !c.flags.Bool("quiet") {
		c.ticker.hide()
		fmt.Fprintf(c.env.Stderr, "warning: %s\n", output.Clean(text))
	}
}

// flushWarnings prints the warnings that were not added to a record.
func (c *Invocation) flushWarnings() {
	for _, w := range c.takeWarnings() {
		c.printWarning(w)
	}
}

// takeWarnings returns and clears collected warnings, for a JSON record's warnings field.
func (c *Invocation) takeWarnings() []string {
	taken := c.warnings
	c.warnings = nil
	return taken
}

// infof prints the current step to standard error, unless --quiet or --json is set.
func (c *Invocation) infof(format string, args ...any) {
	if !c.flags.Bool("quiet") && !c.json {
		c.ticker.hide()
		fmt.Fprintf(c.env.Stderr, "%s\n", output.Clean(fmt.Sprintf(format, args...)))
	}
}

func (c *Invocation) print(format string, args ...any) {
	c.ticker.hide()
	fmt.Fprintf(c.out, format, args...)
}

func (c *Invocation) write(v any) error { return output.Write(c.out, v) }

// A writer keeps the first error, so that a result that could not be printed makes the
// command fail.
type writer struct {
	w   io.Writer
	err error
}

func (w *writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.w.Write(p)
	w.err = err
	return n, err
}

// each calls do for every issue and returns the joined errors.
func (c *Invocation) each(issues []checkpoint.Issue, do func(checkpoint.Issue) error) error {
	var failed []string
	var last error
	t := c.tick(c.command)
	defer t.end()
	for k, i := range issues {
		if len(issues) > 1 {
			t.at(k, len(issues))
		}
		if err := do(i); err != nil {
			failed, last = append(failed, err.Error()), err
		}
	}
	switch {
	case last == nil:
		return nil
	case len(issues) == 1:
		return last
	}
	return exit.Errorf(exit.Partial, "", "%d of %d issues failed:\n%s", len(failed), len(issues), strings.Join(failed, "\n"))
}
