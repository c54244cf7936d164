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

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/output"

	"github.com/urfave/cli/v2"
)

// Main runs the program and returns its exit code. args[0] is the program name.
func Main(args []string) int {
	debug.SetGCPercent(400) // the process ends before garbage collection pays off
	env, err := osEnv()
	if err != nil {
		return report(&Env{Stderr: os.Stderr}, false, err)
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
func Run(ctx context.Context, env *Env, args []string) int {
	return runLine(ctx, env, allCommands(), args)
}

// runLine runs a command line with the given commands.
func runLine(ctx context.Context, env *Env, commands []*command, args []string) int {
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
func allCommands() []*command {
	return []*command{
		&saveCommand, &runCommand,
		&startCommand, &phaseCommand, &taskCommand, &finishCommand,
		&listCommand, &showCommand, &diffCommand, &statusCommand, &webCommand, &configCommand,
		&resumeCommand, &restoreCommand, &undoCommand,
		&pruneCommand, &pinCommand, &unpinCommand, &dropCommand, &archiveCommand, &verifyCommand, &doctorCommand, &scanCommand,
		&syncCommand, &fetchCommand, &pushCommand, &importCommand, &exportCommand,
		&hooksCommand, &hookCommand, &completionCommand,
		&versionCommand, &helpCommand,
	}
}

// newApp returns a cli.App with one command and the given flags. Declaring every command
// takes noticeable time.
func newApp(env *Env, l *line) *cli.App {
	return &cli.App{
		Name:           progName,
		HideVersion:    true,
		HideHelp:       true,
		Writer:         env.Stdout,
		ErrWriter:      env.Stderr,
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   onUsageError,
		Commands:       []*cli.Command{l.command.build(env, l.flags())},
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
func (d *command) build(env *Env, flags []cli.Flag) *cli.Command {
	return &cli.Command{
		Name: d.name, HideHelp: true,
		Flags:        flags,
		OnUsageError: onUsageError,
		Action:       func(c *cli.Context) error { return d.call(env, c) },
	}
}

// allFlags returns the command's flags and the common flags.
func (d *command) allFlags() []cli.Flag { return append(d.ownFlags(), commonFlags()...) }

func (d *command) call(env *Env, flags *cli.Context) error {
	line := flags.Context.Value(lineKey{}).(*line)
	c := &Invocation{
		command: d.name,
		ctx:     flags.Context, env: env, flags: flags, args: flags.Args().Slice(), paths: line.paths, lists: line.lists,
		json: line.json, out: &writer{w: env.Stdout}, commands: line.commands, startMirror: startMirror,
		runLine: func(ctx context.Context, env *Env, args []string) int { return runLine(ctx, env, line.commands, args) },
	}
	defer c.close()
	defer c.closeMirror()
	if n := len(c.args); n > d.max {
		return exit.Usagef("%s: %q is one argument too many", d.name, c.args[d.max])
	}
	if dir := flags.String("C"); dir != "" {
		if err := os.Chdir(dir); err != nil {
			return exit.Usagef("-C: %w", err)
		}
	}
	err := c.withRecoveryHint(d.run(c))
	c.endMirror()
	if err == nil || errors.As(err, new(exit.Silent)) {
		c.flushWarnings()
	}
	switch {
	case c.out.err != nil && err == nil:
		return exit.Errorf(exit.Failure, "", "%s: standard output: %w; the command itself is done", d.name, c.out.err)
	case c.out.err != nil && errors.As(err, new(exit.Silent)):
		return exit.Errorf(exit.Failure, "", "%s: standard output: %w", d.name, c.out.err)
	}
	return err
}

// commonFlags returns the flags that all commands share.
func commonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "json", Usage: "print one JSON object on one line"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print results only"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "say more"},
		&cli.StringFlag{Name: "C", Usage: "run as if started in `DIR`"},
		&cli.StringFlag{Name: "issue", Usage: "the `ISSUE` to work on"},
	}
}

// report prints an error and returns the exit code.
func report(env *Env, json bool, err error) int {
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
