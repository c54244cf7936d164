package commands

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"git-checkpoint/commands/config"
	"git-checkpoint/commands/output"
	"git-checkpoint/commands/terminal"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"

	"github.com/urfave/cli/v2"
)

// An Invocation is one run of one command.
type Invocation struct {
	ctx   context.Context
	env   *Env
	flags *cli.Context
	args  []string            // before "--"
	paths []string            // after it
	lists map[string][]string // the values of flags that can be repeated
	json  bool
	out   *writer

	commands []*command // all there are, for help

	doc *layout.File // of save --as, nil for any other save

	begin, move func(*checkpoint.Record) error // the step that a save takes, before or after its flags, nil for none
	artifacts   []string                       // files to keep as artifacts, beside those that were named

	warnings []string // told at the end, with --json

	issueInQuestion checkpoint.Issue // what the command turned out to be about, "" while that is not known

	vars      []variable // that a resume has printed
	committed bool       // a resume has gone on, whatever is wrong after it

	ticker          *ticker                // that may have a line on the terminal, nil for none
	pointers        bool                   // something that was pushed stands for what git-lfs keeps
	detached        bool                   // something is still at work with the store
	quiet           bool                   // warnings are for others
	willSave        bool                   // the staging area will be needed
	ownProcessGroup bool                   // git does not get what a terminal sends
	current         *freshness.SourceIssue // the issue as its source has it now, once that was asked
	offline         bool                   // no program and no forge is asked for the issue: a hook must not wait
	store           *gitstore.Store
	settings        *config.Settings
	mirrored        *mirroring // nil where no layout's files are kept in step
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
		c.startMirror()
	}
	return err
}

// asks reports whether somebody can be asked for a password: a hook must not
// wait for one.
func (c *Invocation) asks() bool { return !c.offline && terminal.Has() }

func (c *Invocation) close() {
	if c.store != nil && !c.detached {
		c.store.Close()
	}
}

// warnf prints a warning to standard error. With --json that has to wait:
// where the command fails, standard error has the one object of the error.
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

// flushWarnings prints the warnings that no record has taken.
func (c *Invocation) flushWarnings() {
	for _, w := range c.takeWarnings() {
		c.printWarning(w)
	}
}

// takeWarnings gives the warnings to a record that has a place for them.
func (c *Invocation) takeWarnings() []string {
	taken := c.warnings
	c.warnings = nil
	return taken
}

// infof prints the current step to standard error, unless --quiet is set.
func (c *Invocation) infof(format string, args ...any) {
	if !c.flags.Bool("quiet") && !c.json {
		c.ticker.hide()
		fmt.Fprintf(c.env.Stderr, "%s\n", output.Clean(fmt.Sprintf(format, args...)))
	}
}

// print writes a result.
func (c *Invocation) print(format string, args ...any) {
	c.ticker.hide()
	fmt.Fprintf(c.out, format, args...)
}

// write writes a JSON result.
func (c *Invocation) write(v any) error { return output.Write(c.out, v) }

// A writer keeps the first error: a result that could not be printed is a
// failure, whatever was done.
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

// quoteArg quotes a word of a command to type.
func quoteArg(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return output.Shell(s)
}

// issueArg is an issue as the last argument of a command to type.
func issueArg(issue checkpoint.Issue) string {
	if strings.HasPrefix(string(issue), "-") {
		return "-- " + quoteArg(string(issue))
	}
	return quoteArg(string(issue))
}

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./:=@~^-]+$`) })

// each runs do for every issue and reports all that failed.
func (c *Invocation) each(issues []checkpoint.Issue, do func(checkpoint.Issue) error) error {
	var failed []string
	var last error
	t := c.tick(c.flags.Command.Name)
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
	return fail(exitPartial, "", "%d of %d issues failed:\n%s", len(failed), len(issues), strings.Join(failed, "\n"))
}
