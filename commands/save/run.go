package save

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/commands/internal/guard"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// RunCommand declares git checkpoint run.
var RunCommand = invoke.Command{
	Name: "run", Usage: "run a command, and save a checkpoint if it is interrupted or fails", Args: "[ISSUE] -- CMD...", Max: 1, Category: "Record",
	Everyday: true, ShortHelp: []string{"every", "timeout", "retry-transient", "push"},
	Description: "Ctrl+C, SIGTERM and SIGHUP save a checkpoint (user_interrupt) before CMD gets the signal.\n" +
		"If CMD fails or is killed, a checkpoint (session_end) is saved. A second Ctrl+C ends CMD at\n" +
		"once. The exit code is that of CMD, or 128+n if signal n ended it. The record has CMD\n" +
		"and how it ended in last_run, and so has the note without -m.\n\n" +
		"On a terminal CMD runs in the foreground: Ctrl+C reaches it from the terminal, while\n" +
		"the checkpoint is saved, and is not passed on again. After Ctrl+C `git checkpoint run`\n" +
		"itself ends with 130, because git ends too; `git-checkpoint run` exits with CMD's code.",
	Examples: []string{
		"git checkpoint run 42 -- make release",
		"git checkpoint run --every 10m --push -- ./agent.sh",
		"git checkpoint run --timeout 50m --retry-transient 3 -- ./job.sh",
	},
	Saves: true,
	New:   invoke.Bind((*runOptions).flags, runRun),
}

// runOptions are the flags of run.
type runOptions struct {
	work.SaveOptions
	every, timeout, retryWait string
	retries                   int
}

// flags returns the flags of run: save's content flags, and the flags of the run itself.
func (o *runOptions) flags() []cli.Flag {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "every", Usage: "save a checkpoint (interval) every `DURATION`, such as 10m, if something has changed", Destination: &o.every},
		&cli.StringFlag{Name: "timeout", Usage: "after `DURATION`, including retries, save a checkpoint (session_end) and end CMD", Destination: &o.timeout},
		&cli.IntFlag{Name: "retry-transient", Usage: "start CMD again up to `N` times if the network or a rate limit made it fail", Destination: &o.retries},
		&cli.StringFlag{Name: "retry-wait", Usage: "wait `DURATION` before the first retry, and twice as long before each later retry", Value: "2s", Destination: &o.retryWait},
		o.PushFlag(),
	}
	skip := []string{"agent", "action", "conflict", "batch"}
	for _, f := range o.ContentFlags() {
		if !slices.Contains(skip, f.Names()[0]) {
			flags = append(flags, f)
		}
	}
	return flags
}

// Exit codes of shells for a command that cannot be run.
const (
	exitCannotRun = 126
	exitNoCommand = 127
)

func runRun(c *invoke.Invocation, o *runOptions) error {
	limits, err := o.limits()
	if err != nil {
		return err
	}
	path, err := lookCommand(c.Line.Paths)
	if err != nil {
		return err
	}
	if err := c.Open(); err != nil {
		return err
	}
	issue, err := c.Issue()
	if err != nil {
		return err
	}
	c.ShowIssue()
	if _, err := work.SaveRequest(c, issue, checkpoint.UserInterrupt, &o.SaveOptions, work.SaveInput{}); err != nil {
		return err // a wrong flag must fail now, not at the first save
	}
	if err := c.Ctx.Err(); err != nil {
		return err
	}
	k := &keeper{c: c, options: &o.SaveOptions, issue: issue, warned: map[string]bool{}}
	defer k.close()
	k.guard = &guard.Guard{
		Path: path, Args: c.Line.Paths, Env: append(os.Environ(), invoke.IssueVariables(issue, c.Store.GitDir())...),
		Limits: limits, Work: k, ByGit: c.Env.Getenv("GIT_EXEC_PATH") != "",
	}
	code, err := k.guard.Run(c.Ctx)
	if err != nil {
		return cannotRun(exitCannotRun, c.Line.Paths[0], errors.Unwrap(err))
	}
	if err := k.report(); err != nil {
		return err
	}
	if code != 0 {
		return failure.Silent{Code: code}
	}
	return work.PushFailure(c, o.Push, k.unpushed)
}

// limits returns the limits of the run. It rejects values that would fail only later.
func (o *runOptions) limits() (l guard.Limits, err error) {
	for _, d := range []struct {
		flag, text string
		value      *time.Duration
	}{{"every", o.every, &l.Every}, {"timeout", o.timeout, &l.Timeout}, {"retry-wait", o.retryWait, &l.Wait}} {
		if d.text == "" {
			continue
		}
		if *d.value, err = parseDuration(d.text); err != nil || *d.value <= 0 {
			return l, failure.Usagef("run: --%s: %q is not a duration, such as 90s, 10m or 2h", d.flag, d.text)
		}
	}
	if l.Retries = o.retries; l.Retries < 0 {
		return l, failure.Usagef("run: --retry-transient: %d is no number of retries", l.Retries)
	}
	if o.State == "-" {
		return l, failure.Usagef("run: --state: standard input is CMD's; name a file")
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
		return "", failure.Errorf(failure.Usage, "git checkpoint run -- CMD", "run: no command is given: put it after --")
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
	return failure.CodeErrorf(code, "run: %s: %v", name, why)
}

// A keeper saves and pushes the work while a command runs.
type keeper struct {
	c       *invoke.Invocation
	at      *invoke.Invocation // c with the store of the newest save, or nil
	options *work.SaveOptions
	guard   *guard.Guard
	issue   checkpoint.Issue

	saved    *gitstore.Saved // newest checkpoint
	unpushed error           // of the last push
	ended    bool            // the command has ended and does not use the terminal
	why      string          // reason why nothing was saved
	warned   map[string]bool
}

// Save saves a checkpoint. Errors become warnings.
func (k *keeper) Save(ctx context.Context, t checkpoint.Trigger, state guard.State) {
	k.ended = state.Ended
	if on, why := k.c.Settings.TriggerEnabled(t); !on {
		k.why = why
		return
	}
	saved, err := k.trySave(ctx, t, state)
	if err != nil && !errors.Is(err, gitstore.ErrUnchanged) && ctx.Err() == nil {
		// Ctrl+C can reach a git process that was just started and has no process group
		// of its own yet.
		saved, err = k.trySave(ctx, t, state)
	}
	switch {
	case errors.Is(err, gitstore.ErrUnchanged):
	case ctx.Err() != nil:
		k.warn("not saved (%s): interrupted", t)
	case err != nil:
		k.warn("not saved (%s): %v", t, err)
	default:
		k.saved = saved
		k.guard.Saved()
		k.guard.Tell(func() { k.c.Infof("saved %s (%s)", saved.ID, t) })
		for _, w := range slices.Concat(saved.Dropped, work.SaveWarnings(k.at, saved)) {
			k.warn("%s", w)
		}
	}
}

// Pushes reports whether a checkpoint was saved and is to be pushed.
func (k *keeper) Pushes() bool { return k.saved != nil && work.WantsPush(k.c, k.options.Push) }

// Push pushes the saved checkpoints.
func (k *keeper) Push(ctx context.Context, limit time.Duration) {
	c := k.at.With(ctx, k.at.Store)
	err := work.PushIssue(c, k.issue, k.options.Push, k.ended && k.options.Push.Given())
	k.c.Out.Warnings = append(k.c.Out.Warnings, c.TakeWarnings()...)
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.Canceled) && err != nil {
		err = fmt.Errorf("no answer within %s", limit)
	}
	k.unpushed = err
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		k.warnBy(k.c.WarnAlways, "%s", work.NotPushed(err)) // the clone may not live until the next push
	}
}

// Say prints the progress of the command.
func (k *keeper) Say(format string, args ...any) { k.c.Infof(format, args...) }

// warn prints each warning once.
func (k *keeper) warn(format string, args ...any) { k.warnBy(k.c.Warnf, format, args...) }

func (k *keeper) warnBy(warnf func(string, ...any), format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !k.warned[text] {
		k.warned[text] = true
		k.guard.Tell(func() { warnf("%s", text) })
	}
}

func (k *keeper) report() error {
	c := k.c
	if !c.Line.JSON {
		return nil
	}
	if k.saved == nil {
		return c.WriteJSON(view.Save{
			Type: "run", Issue: string(k.issue), Skipped: cmp.Or(k.why, "nothing had to be saved"), Warnings: c.TakeWarnings(),
		})
	}
	return c.WriteJSON(work.SaveRecord("run", k.saved, c.TakeWarnings()))
}

// trySave opens the repository again, because the command may have changed it, and saves.
func (k *keeper) trySave(ctx context.Context, t checkpoint.Trigger, state guard.State) (*gitstore.Saved, error) {
	opts := gitstore.Options{Now: k.c.Env.Now, Apart: true}
	if _, err := os.Getwd(); err != nil { // the working directory was deleted
		opts.Dir = cmp.Or(k.c.Store.Root(), k.c.Store.CommonDir())
	}
	store, err := gitstore.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	k.close()
	k.at = k.c.With(ctx, store)
	c := k.at
	defer func() { k.c.Out.Warnings = append(k.c.Out.Warnings, c.TakeWarnings()...) }()
	options := *k.options
	if options.Message == "" && t != checkpoint.Interval {
		options.Message = runNote(c.Line.Paths, state)
	}
	in := work.SaveInput{Run: runRecord(c.Line.Paths, state)}
	req, err := work.SaveRequest(c, k.issue, t, &options, in)
	if err != nil { // the state file may be missing or incomplete
		k.warn("saved without --state: %v", err)
		options.State = ""
		req, err = work.SaveRequest(c, k.issue, t, &options, in)
	}
	if err != nil {
		return nil, err
	}
	req.IfChanged = t == checkpoint.Interval
	saved, err := c.Store.Save(ctx, req)
	if err == nil {
		c.EndMirror()
	}
	return saved, err
}

// close closes the store of the newest save.
func (k *keeper) close() {
	if k.at != nil {
		k.at.Close()
	}
}

// runRecord returns the command, and how it ended, for the field last_run of the record.
func runRecord(words []string, state guard.State) *checkpoint.Map {
	m := checkpoint.NewMap()
	m.Set("command", commandLine(words))
	switch {
	case state.Ended:
		m.Set("exit_code", state.Code)
	case state.Signal != nil:
		m.Set("signal", state.Signal.String())
	case state.TimedOut:
		m.Set("timed_out", true)
	}
	return m
}

// maxNote limits the command in a note to a part of a line.
const maxNote = 60

// runNote returns a note such as "make release: exit code 2".
func runNote(words []string, state guard.State) string {
	command := []rune(commandLine(words))
	if len(command) > maxNote {
		command = append(command[:maxNote-3], []rune("...")...)
	}
	how := "timed out"
	switch {
	case state.Ended:
		how = fmt.Sprintf("exit code %d", state.Code)
	case state.Signal != nil:
		how = state.Signal.String()
	}
	return string(command) + ": " + how
}

// commandLine returns the command as a shell would read it, on one line.
func commandLine(words []string) string {
	valid := view.Each(words, func(word string) string { return strings.ToValidUTF8(word, "\ufffd") })
	return strings.Join(strings.Fields(view.QuoteArgs(valid)), " ")
}
