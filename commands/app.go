package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"git-checkpoint/commands/doctor"
	"git-checkpoint/commands/hooks"
	"git-checkpoint/commands/interchange"
	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/list"
	"git-checkpoint/commands/resume"
	"git-checkpoint/commands/retain"
	"git-checkpoint/commands/save"
	"git-checkpoint/commands/scan"
	"git-checkpoint/commands/share"
	"git-checkpoint/commands/status"
	"git-checkpoint/commands/web"
	"git-checkpoint/commands/workflow"

	"github.com/urfave/cli/v2"
)

// Main runs the program and returns its exit code. args[0] is the program name.
func Main(args []string) int {
	debug.SetGCPercent(400) // the process ends before garbage collection pays off
	env, err := invoke.OSEnv()
	if err != nil {
		return report(&invoke.Env{Stderr: os.Stderr}, false, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go stopOnSignal(stop) // in the background, because signal.Notify takes a moment
	return Run(ctx, env, args[1:])
}

// stopOnSignal cancels the command at the first interrupt. A second signal ends the
// program at once.
func stopOnSignal(stop context.CancelFunc) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	<-signals
	signal.Stop(signals)
	stop()
}

// Run runs one command line in an environment and returns the exit code.
func Run(ctx context.Context, env *invoke.Env, args []string) int {
	return runLine(ctx, env, allCommands(), args)
}

// runLine runs a command line with the given commands.
func runLine(ctx context.Context, env *invoke.Env, commands []*invoke.Command, args []string) int {
	line, err := parseLine(commands, args)
	if err == nil {
		err = newApp(env, line).RunContext(context.WithValue(ctx, lineKey{}, line), line.argv)
	}
	if err != nil && ctx.Err() != nil && !errors.As(err, new(exit.Silent)) {
		// A git process that was interrupted too reports only that it was killed.
		err = exit.Errorf(exit.Interrupted, "", "interrupted")
	}
	return report(env, line.json, line.withHelp(err))
}

type lineKey struct{}

// allCommands returns the commands in the order of the help, grouped by category.
func allCommands() []*invoke.Command {
	return []*invoke.Command{
		&save.SaveCommand, &save.RunCommand,
		&workflow.StartCommand, &workflow.PhaseCommand, &workflow.TaskCommand, &workflow.FinishCommand,
		&list.ListCommand, &list.ShowCommand, &list.DiffCommand, &status.StatusCommand, &web.WebCommand, &configCommand,
		&resume.ResumeCommand, &resume.RestoreCommand, &retain.UndoCommand,
		&retain.PruneCommand, &retain.PinCommand, &retain.UnpinCommand, &retain.DropCommand, &retain.ArchiveCommand, &doctor.VerifyCommand, &doctor.DoctorCommand, &scan.ScanCommand,
		&share.SyncCommand, &share.FetchCommand, &share.PushCommand, &interchange.ImportCommand, &interchange.ExportCommand,
		&hooks.HooksCommand, &hooks.HookCommand, &completionCommand,
		&versionCommand, &helpCommand,
	}
}

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
		OnUsageError:   onUsageError,
		Commands:       []*cli.Command{build(l.command, env, l.flags())},
	}
}

const progName = "git-checkpoint"

// onUsageError rewrites the library's error about a flag value: a value that is not a
// number, or not a boolean.
func onUsageError(c *cli.Context, err error, _ bool) error {
	before, flag, named := strings.Cut(strings.Replace(err.Error(), " for flag -", " for -", 1), " for -")
	_, value, valued := strings.Cut(before, "value ")
	if !named || !valued {
		return exit.Usagef("%s: %w", c.Command.Name, err)
	}
	name, _, _ := strings.Cut(flag, ":")
	if len(name) > 1 {
		name = "-" + name
	}
	want := "a number"
	if strings.Contains(before, "boolean") {
		want = "true or false"
	}
	return exit.Usagef("%s: -%s: %s: want %s", c.Command.Name, name, value, want)
}

// build returns the cli.Command of the declaration.
func build(d *invoke.Command, env *invoke.Env, flags []cli.Flag) *cli.Command {
	return &cli.Command{
		Name: d.Name, HideHelp: true,
		Flags:        flags,
		OnUsageError: onUsageError,
		Action:       func(c *cli.Context) error { return call(d, env, c) },
	}
}

// allFlags returns the command's flags and the common flags.
func allFlags(d *invoke.Command) []cli.Flag { return append(d.OwnFlags(), invoke.CommonFlags()...) }

func call(d *invoke.Command, env *invoke.Env, flags *cli.Context) error {
	line := flags.Context.Value(lineKey{}).(*line)
	c := &invoke.Invocation{
		Name: d.Name,
		Ctx:  flags.Context, Env: env, Flags: flags, Args: flags.Args().Slice(), Paths: line.paths, Lists: line.lists,
		Common: invoke.ReadCommon(flags), JSON: line.json, Out: &invoke.Writer{W: env.Stdout}, Commands: line.commands, StartMirror: interchange.StartMirror,
		RunLine: func(ctx context.Context, env *invoke.Env, args []string) int {
			return runLine(ctx, env, line.commands, args)
		},
	}
	defer c.Close()
	defer c.CloseMirror()
	if n := len(c.Args); n > d.Max {
		return exit.Usagef("%s: %q is one argument too many", d.Name, c.Args[d.Max])
	}
	if c.Common.Dir != "" {
		if err := os.Chdir(c.Common.Dir); err != nil {
			return exit.Usagef("-C: %w", err)
		}
	}
	err := withRecoveryHint(c, d.Run(c))
	c.EndMirror()
	if err == nil || errors.As(err, new(exit.Silent)) {
		c.FlushWarnings()
	}
	switch {
	case c.Out.Err != nil && err == nil:
		return exit.Errorf(exit.Failure, "", "%s: standard output: %w; the command itself is done", d.Name, c.Out.Err)
	case c.Out.Err != nil && errors.As(err, new(exit.Silent)):
		return exit.Errorf(exit.Failure, "", "%s: standard output: %w", d.Name, c.Out.Err)
	}
	return err
}

// report prints an error and returns the exit code.
func report(env *invoke.Env, json bool, err error) int {
	if err == nil {
		return exit.OK
	}
	var quiet exit.Silent
	if errors.As(err, &quiet) {
		return quiet.ExitCode()
	}
	f := exit.Classify(err)
	message := strings.TrimPrefix(f.Error(), "git-checkpoint: ")
	if json {
		_ = output.Write(env.Stderr, output.NewError(f.Code, f.Kind, message, f.Hint))
		return f.Code
	}
	fmt.Fprintf(env.Stderr, "git-checkpoint: %s\n", output.CleanBlock(message))
	if f.Hint != "" {
		fmt.Fprintf(env.Stderr, "hint: %s\n", output.Clean(f.Hint))
	}
	return f.Code
}
