// Package commands has the command line: Main, the parser of a line, the list of commands,
// and the commands config, completion, version and help.
package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"

	"git-checkpoint/commands/attempts"
	"git-checkpoint/commands/demo"
	"git-checkpoint/commands/doctor"
	"git-checkpoint/commands/hooks"
	"git-checkpoint/commands/interchange"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/commands/list"
	"git-checkpoint/commands/resume"
	"git-checkpoint/commands/retain"
	"git-checkpoint/commands/save"
	"git-checkpoint/commands/scan"
	"git-checkpoint/commands/share"
	"git-checkpoint/commands/status"
	"git-checkpoint/commands/turns"
	"git-checkpoint/commands/web"
	"git-checkpoint/commands/workflow"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/trace"

	"github.com/urfave/cli/v2"
)

// Main runs the program and returns its exit code. args[0] is the program name.
func Main(args []string) int {
	debug.SetGCPercent(400) // the process ends before garbage collection pays off
	env, err := invoke.OSEnv()
	if err != nil {
		return report(&invoke.Env{Stderr: os.Stderr}, false, err)
	}
	env.Argv = args
	end, err := trace.Open(os.Getenv(trace.Variable))
	if err != nil {
		return report(env, false, failure.Usagef("%w", err))
	}
	defer end()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { // because signal.Notify takes a moment
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
		<-signals
		signal.Stop(signals) // a second signal ends the program at once
		stop()
	}()
	return Run(ctx, env, args[1:])
}

// Run runs one command line in an environment and returns the exit code.
func Run(ctx context.Context, env *invoke.Env, args []string) int {
	return runLine(ctx, env, allCommands(), args)
}

// Version, Commit and Date are set by the linker in a release.
var Version, Commit, Date string

// report prints an error and returns the exit code.
func report(env *invoke.Env, json bool, err error) int {
	if err == nil {
		return failure.OK
	}
	var quiet failure.Silent
	if errors.As(err, &quiet) {
		return quiet.ExitCode()
	}
	f := failure.Classify(err)
	message := strings.TrimPrefix(f.Error(), "git-checkpoint: ")
	if json {
		_ = view.Write(env.Stderr, view.Error{
			Type: "error", Code: f.Code, Kind: f.Kind, Message: message, Hint: strings.ReplaceAll(f.Hint, "\n", " or "), Details: f.Details,
		})
		return f.Code
	}
	fmt.Fprintf(env.Stderr, "git-checkpoint: %s\n", view.CleanBlock(message))
	for _, line := range f.Details {
		fmt.Fprintf(env.Stderr, "%s\n", view.Clean(line))
	}
	for hint := range strings.Lines(f.Hint) {
		fmt.Fprintf(env.Stderr, "hint: %s\n", view.Clean(strings.TrimSuffix(hint, "\n")))
	}
	return f.Code
}

// runLine runs a command line with the given commands.
func runLine(ctx context.Context, env *invoke.Env, commands []*invoke.Command, args []string) int {
	line, err := parseLine(commands, args)
	if err == nil {
		defer trace.Begin(trace.Command, "git checkpoint "+line.command.Name).End()
		err = newApp(env, line).RunContext(ctx, line.argv)
	}
	if err != nil && ctx.Err() != nil && !errors.As(err, new(failure.Silent)) {
		// A git process that was interrupted too reports only that it was killed.
		err = failure.Errorf(failure.Interrupted, "", "interrupted")
	}
	return report(env, line.json, line.withHelp(err))
}

const progName = "git-checkpoint"

// newApp returns a cli.App with one command and the given flags. Declaring every command
// takes noticeable time.
func newApp(env *invoke.Env, l *line) *cli.App {
	return &cli.App{
		Name:           progName,
		HideVersion:    true,
		HideHelp:       true,
		Writer:         env.Stdout,
		ErrWriter:      env.Stderr,
		ExitErrHandler: func(*cli.Context, error) {},
		Commands: []*cli.Command{{
			Name: l.command.Name, HideHelp: true, Flags: l.givenFlags(),
			Action: func(c *cli.Context) error { return call(l, env, c) },
		}},
	}
}

func call(line *line, env *invoke.Env, flags *cli.Context) error {
	d := line.command
	c := &invoke.Invocation{
		Ctx: flags.Context, Env: env, Out: invoke.Output{Writer: &invoke.Writer{W: env.Stdout}},
		Line: invoke.Line{
			Name: d.Name, Args: flags.Args().Slice(), Paths: line.paths, Flags: flags,
			Common: line.common, JSON: line.json, Command: d, Commands: line.commands,
		},
		RunLine: func(ctx context.Context, env *invoke.Env, args []string) int {
			return runLine(ctx, env, line.commands, args)
		},
	}
	if !flags.Bool("dry-run") {
		c.StartMirror = interchange.StartMirror
	}
	defer c.Close()
	defer c.CloseMirror()
	if n := len(c.Line.Args); n > d.Max {
		return failure.Usagef("%s: unexpected argument %q%s", d.Name, c.Line.Args[d.Max], noteAdvice(c))
	}
	if err := c.Chdir(c.Line.Common.Dir); err != nil {
		return err
	}
	err := withRecoveryHint(c, line.run(c))
	if err == nil {
		c.ShowIssue()
	}
	c.EndMirror()
	if err == nil || errors.As(err, new(failure.Silent)) {
		c.FlushWarnings()
	}
	if c.Out.Err != nil && (err == nil || errors.Is(err, c.Out.Err) || errors.As(err, new(failure.Silent))) {
		return failure.DoneErrorf("%s: standard output: %w; the command itself is done", d.Name, c.Out.Err)
	}
	return err
}

// noteAdvice returns advice about an unexpected argument: run's command goes after --, a note after
// -m, and the name of an agent after the --agent of hooks uninstall.
func noteAdvice(c *invoke.Invocation) string {
	switch {
	case c.Line.Name == "run":
		return "; the command goes after --"
	case c.Line.Name == "disable":
		return "; for a single agent: git checkpoint hooks uninstall --agent " + view.Shell(c.Line.Args[0])
	case c.HasFlag("message") && !c.Line.Flags.IsSet("message"):
		return "; a note goes after -m"
	}
	return ""
}

// withRecoveryHint adds a recovery command to the error of a damaged chain, or of an
// issue without checkpoints.
func withRecoveryHint(c *invoke.Invocation, err error) error {
	var none *gitstore.NoneError
	if errors.As(err, &none) && !errors.As(err, new(*failure.Error)) && c.Store != nil {
		if e := work.EndingOf(c, none.Issue); e != nil {
			undo, _ := work.UndoHints(c, none.Issue)
			return failure.Errorf(failure.None, strings.Join(append([]string{e.Hint()}, undo...), "\n"), "%w: %s", none, e.Text(c.Env.Now()))
		}
		hint, details := noneHint(c, none.Issue)
		return failure.NoneFound(none, hint, details)
	}
	var damaged *gitstore.CorruptError
	isCorrupt := errors.As(err, &damaged)
	isGit := err != nil && !isCorrupt && damageText().MatchString(err.Error())
	if isCorrupt {
		code, _ := damaged.Exit()
		isCorrupt = code != failure.Failure // an error of the system
	}
	if !isGit && !isCorrupt || isCorrupt && damaged.Hint != "" || errors.As(err, new(*failure.Error)) || c.Subject.Issue == "" {
		return err
	}
	hint := invoke.DamageHint(c, c.Subject.Issue)
	if isGit && hint == "" {
		return err
	}
	return failure.Errorf(failure.Invalid, cmp.Or(hint, "git checkpoint verify "+view.IssueArg(c.Subject.Issue)), "%w", err)
}

// damageText matches git's messages about an object that it cannot read.
var damageText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(missing|unable to read|bad|could not parse) (blob|tree|commit)? ?object|object [0-9a-f]+ .*is corrupt|unpacker error|unable to read [0-9a-f]{40}`)
})

// noneHint returns the next commands for an issue without checkpoints, one a line, and lines with
// the reason of a fetch without result and the issues that have checkpoints. The archive or the
// remote may have checkpoints of the issue. If a word was typed, the key or the name in it may be
// wrong, and no command saves under another key.
func noneHint(c *invoke.Invocation, issue checkpoint.Issue) (string, []string) {
	arg := view.IssueArg(issue)
	if len(c.Line.Args) > 0 && c.HasFlag("remote") && slices.Contains(c.Store.RemoteNames(), string(issue)) {
		return "git checkpoint " + c.Line.Name + " --remote=" + view.QuoteArg(string(issue)), []string{string(issue) + " is a remote"}
	}
	hints, details := work.UndoHints(c, issue)
	if l, err := c.Store.Archived(c.Ctx, issue, 1); err == nil && len(l.Checkpoints) > 0 {
		return strings.Join(append(hints, "git checkpoint list "+arg+" --archived"), "\n"), details
	}
	if c.Store.Lacks(c.Ctx, issue) {
		return "git checkpoint doctor --fix", []string{gitstore.LiveRef(issue) + " was deleted outside git-checkpoint"}
	}
	isTaken, canUndo := len(details) > 0, len(hints) > 0
	_, remoteErr := c.FetchRemotes("")
	atRemote := remoteErr == nil && c.Line.Name != "fetch" && c.Line.Name != "sync" && !c.Subject.RemoteAnswered
	if atRemote {
		hints = append(hints, fetchHint(c, issue))
	}
	if c.Subject.Unfetched != "" {
		details = append(details, c.Subject.Unfetched)
	}
	issues, err := c.IssuesWithCheckpoints()
	some := err == nil && len(issues) > 0
	if some {
		details = append(details, "issues with checkpoints: "+view.List(view.Few(view.Strings(issues), 10)))
	} else if err == nil && !atRemote && !isTaken {
		details = append(details, "nothing was saved in this clone")
	}
	switch {
	case canUndo, atRemote && !c.Subject.Inferred: // that command is the next one
	case remoteErr == nil && !atRemote && !some && (c.Subject.NamedAfterBranch || !c.Subject.Inferred): // the key was a guess, or can be wrong
		hints = append(hints, "git checkpoint fetch --all")
	case !some && c.Line.Name == "restore": // a save brings no file back
		hints = append(hints, "git checkpoint help crash")
	case c.Subject.Inferred && len(c.Line.Args) == 0 && (!some || !c.Subject.NamedAfterBranch):
		hints = append(hints, "git checkpoint save "+arg)
	case !some:
		hints = append(hints, "git checkpoint save")
	case c.Subject.NamedAfterBranch:
		hints = append(hints, "git checkpoint list")
	default:
		hints = append(hints, "git checkpoint list --all")
	}
	return strings.Join(hints, "\n"), details
}

// fetchHint returns the command that gets the checkpoints of an issue from the remote. A
// chain without checkpoints is up to date, but its archive may be at the remote. A key
// from a branch name is a guess, so all issues are fetched. After a status, the next command is
// a resume, which fetches.
func fetchHint(c *invoke.Invocation, issue checkpoint.Issue) string {
	switch arg := view.IssueArg(issue); {
	case c.Store.HasIssue(c.Ctx, issue):
		return "git checkpoint sync " + arg + " --archived"
	case c.Subject.NamedAfterBranch:
		return "git checkpoint fetch --all"
	case c.Line.Name == "status":
		return "git checkpoint resume " + arg
	default:
		return "git checkpoint fetch " + arg
	}
}

// allCommands returns the commands in the order of the help, grouped by category.
func allCommands() []*invoke.Command {
	return []*invoke.Command{
		&save.SaveCommand, &save.RunCommand,
		&workflow.StartCommand, &workflow.PhaseCommand, &workflow.TaskCommand, &workflow.FinishCommand,
		&list.ListCommand, &list.ShowCommand, &list.DiffCommand, &turns.BlameCommand, &turns.BisectCommand, &status.StatusCommand, &web.WebCommand, &configCommand,
		&attempts.ForkCommand, &attempts.CompareCommand, &attempts.AdoptCommand,
		&resume.ResumeCommand, &resume.RestoreCommand, &retain.UndoCommand, &retain.RedoCommand,
		&retain.PruneCommand, &retain.PinCommand, &retain.UnpinCommand, &retain.DropCommand, &retain.ArchiveCommand, &doctor.VerifyCommand, &doctor.DoctorCommand, &scan.ScanCommand,
		&share.SyncCommand, &share.FetchCommand, &share.PushCommand, &interchange.ImportCommand, &interchange.ExportCommand,
		&hooks.EnableCommand, &hooks.DisableCommand, &hooks.HooksCommand, &hooks.HookCommand, &demo.Command, &completionCommand,
		&versionCommand, &helpCommand,
	}
}
