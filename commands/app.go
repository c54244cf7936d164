package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"git-checkpoint/commands/output"

	"github.com/urfave/cli/v2"
)

// Main runs the program and returns its exit code. args[0] is its name.
func Main(args []string) int {
	env, err := osEnv()
	if err != nil {
		return report(&Env{Stderr: os.Stderr}, false, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return Run(ctx, env, args[1:])
}

// Run runs one command line in an environment.
func Run(ctx context.Context, env *Env, args []string) int {
	app := newApp(env)
	line, err := parseLine(app, args)
	if err == nil {
		err = app.RunContext(context.WithValue(ctx, lineKey{}, line), line.argv)
	}
	return report(env, line != nil && line.json, err)
}

type lineKey struct{}

// newApp lists the commands.
func newApp(env *Env) *cli.App {
	app := &cli.App{
		Name:            "git-checkpoint",
		Usage:           "record where long work on an issue stands, and resume it",
		UsageText:       "git checkpoint <command> [arguments]",
		HideVersion:     true,
		HideHelpCommand: true,
		Writer:          env.Stdout,
		ErrWriter:       env.Stderr,
		ExitErrHandler:  func(*cli.Context, error) {},
		OnUsageError:    onUsageError,
		Action:          func(c *cli.Context) error { return cli.ShowAppHelp(c) },
	}
	for _, cmd := range []command{
		saveCommand, listCommand, showCommand, statusCommand, resumeCommand, restoreCommand, undoCommand,
		pruneCommand, pinCommand, unpinCommand, dropCommand, archiveCommand, verifyCommand, configCommand,
		versionCommand, helpCommand,
	} {
		app.Commands = append(app.Commands, cmd.build(env))
	}
	return app
}

func onUsageError(_ *cli.Context, err error, _ bool) error { return usagef("%w", err) }

// A command is what one file of this package declares.
type command struct {
	name, alias string
	category    string
	usage       string // one line
	args        string // what stands after the name
	max         int    // how many arguments it takes
	description string
	flags       []cli.Flag
	run         func(*call) error
}

// build makes it a command of the library.
func (d command) build(env *Env) *cli.Command {
	cmd := &cli.Command{
		Name: d.name, Usage: d.usage, ArgsUsage: d.args, Description: d.description, Category: d.category,
		Flags:        append(d.flags[:len(d.flags):len(d.flags)], commonFlags()...),
		OnUsageError: onUsageError,
		Action: func(c *cli.Context) error {
			line := c.Context.Value(lineKey{}).(*line)
			if n := c.Args().Len(); n > d.max {
				return usagef("%s: %q is one argument too many", d.name, c.Args().Get(d.max))
			}
			call := &call{ctx: c.Context, env: env, flags: c, args: c.Args().Slice(), paths: line.paths, json: line.json}
			defer call.close()
			return d.run(call)
		},
	}
	if d.alias != "" {
		cmd.Aliases = []string{d.alias}
	}
	return cmd
}

// commonFlags are the flags of every command.
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
		return exitOK
	}
	var quiet silent
	if errors.As(err, &quiet) {
		return quiet.code
	}
	f := classify(err)
	message := strings.TrimPrefix(f.Error(), "git-checkpoint: ")
	if json {
		_ = output.Write(env.Stderr, output.NewError(f.code, f.kind, message, f.hint))
		return f.code
	}
	fmt.Fprintf(env.Stderr, "git-checkpoint: %s\n", output.CleanBlock(message))
	if f.hint != "" {
		fmt.Fprintf(env.Stderr, "hint: %s\n", output.Clean(f.hint))
	}
	return f.code
}
