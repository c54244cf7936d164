// Package invoke has the context that all commands share: streams, flags, the store, the
// settings, questions at a terminal and the issue that a command is about.
package invoke

import (
	"context"
	"fmt"
	"io"
	"strings"

	"git-checkpoint/commands/internal/config"
	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

// An Invocation is one run of one command.
type Invocation struct {
	Name   string // name of the command, for messages
	Ctx    context.Context
	Env    *Env
	Flags  *cli.Context
	Args   []string            // before "--"
	Paths  []string            // after "--"
	Lists  map[string][]string // values of repeatable flags
	Common Common
	JSON   bool
	Out    *Writer

	Commands []*Command // all commands, for help

	Warnings []string // with --json, printed at the end

	IssueInQuestion checkpoint.Issue // issue of the command, or "" while it is unknown

	Ticker          *ticker // may own a line on the terminal; can be nil
	Detached        bool    // a goroutine still uses the store
	OnlyLooks       bool    // a recent forge answer suffices
	Quiet           bool    // suppress warnings
	WillSave        bool    // the index will be needed
	OwnProcessGroup bool    // terminal signals do not reach git
	Offline         bool    // ask no program and no forge for the issue: a hook must not wait
	Store           *gitstore.Store
	Settings        *config.Settings
	mirror          MirrorKeeper // nil if no layout is mirrored
	StartMirror     func(*Invocation) MirrorKeeper
	RunLine         func(context.Context, *Env, []string) int // runs another command line
}

// Open opens the repository, reads the settings and starts the mirror. If it returns a
// *config.SettingError, the store is open nevertheless.
func (c *Invocation) Open() error {
	store, err := gitstore.Open(c.Ctx, gitstore.Options{
		Now: c.Env.Now, ToSave: c.WillSave, Apart: c.OwnProcessGroup, Asks: func() bool { return canAsk(c) }, Notify: func(line string) { c.Warnf("%s", line) },
	})
	if err != nil {
		return err
	}
	c.Store = store
	c.Settings, err = config.Load(config.Sources{
		Root: store.Root(), Git: store.Config(), Environ: c.Env.Environ, Getenv: c.Env.Getenv,
	})
	for _, w := range c.Settings.Warnings() {
		c.Warnf("%s", w)
	}
	if err == nil {
		openMirror(c)
	}
	return err
}

// A MirrorKeeper synchronizes a layout's files with the checkpoints.
type MirrorKeeper interface {
	End() // writes the files of the issues that the command has changed
	Close()
}

func openMirror(c *Invocation) {
	if c.mirror == nil && c.StartMirror != nil {
		c.mirror = c.StartMirror(c)
	}
}

// EndMirror writes the checkpoint changes since the last call to the mirrored files. It is
// called at the end of a command, and by run after each save.
func (c *Invocation) EndMirror() {
	if c.mirror != nil {
		c.mirror.End()
	}
}

// CloseMirror closes the folder of the mirrored files.
func (c *Invocation) CloseMirror() {
	if c.mirror != nil && !c.Detached {
		c.mirror.Close()
	}
}

// canAsk reports whether git may ask for a password. A hook must not wait for an answer.
func canAsk(c *Invocation) bool { return !c.Offline && terminal.Has() }

// Close closes the store.
func (c *Invocation) Close() {
	if c.Store != nil && !c.Detached {
		c.Store.Close()
	}
}

// Warnf prints a warning to standard error. With --json the warning is deferred: if the
// command fails, standard error contains only the JSON object of the error.
func (c *Invocation) Warnf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if c.JSON {
		c.Warnings = append(c.Warnings, text)
		return
	}
	printWarning(c, text)
}

func printWarning(c *Invocation, text string) {
	if !c.Quiet && !c.Common.Quiet {
		c.Ticker.hide()
		fmt.Fprintf(c.Env.Stderr, "warning: %s\n", output.Clean(text))
	}
}

// FlushWarnings prints the warnings that were not added to a record.
func (c *Invocation) FlushWarnings() {
	for _, w := range c.TakeWarnings() {
		printWarning(c, w)
	}
}

// TakeWarnings returns and clears collected warnings, for a JSON record's warnings field.
func (c *Invocation) TakeWarnings() []string {
	taken := c.Warnings
	c.Warnings = nil
	return taken
}

// Infof prints the current step to standard error, unless --quiet or --json is set.
func (c *Invocation) Infof(format string, args ...any) {
	if !c.Common.Quiet && !c.JSON {
		c.Ticker.hide()
		fmt.Fprintf(c.Env.Stderr, "%s\n", output.Clean(fmt.Sprintf(format, args...)))
	}
}

func (c *Invocation) Printf(format string, args ...any) {
	c.Ticker.hide()
	fmt.Fprintf(c.Out, format, args...)
}

func (c *Invocation) WriteJSON(v any) error { return output.Write(c.Out, v) }

// A Writer keeps the first error, so that a result that could not be printed makes the
// command fail.
type Writer struct {
	W   io.Writer
	Err error
}

// Write writes to the output until a write fails.
func (w *Writer) Write(p []byte) (int, error) {
	if w.Err != nil {
		return 0, w.Err
	}
	n, err := w.W.Write(p)
	w.Err = err
	return n, err
}

// Each calls do for every issue and returns the joined errors.
func (c *Invocation) Each(issues []checkpoint.Issue, do func(checkpoint.Issue) error) error {
	var failed []string
	var last error
	t := c.Tick(c.Name)
	defer t.End()
	for k, i := range issues {
		if len(issues) > 1 {
			t.At(k, len(issues))
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
