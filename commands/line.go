package commands

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// A line is a command line made ready for the library, which takes flags only
// before arguments and silently makes arguments of those after them.
type line struct {
	argv  []string            // program, command, flags, "--", arguments
	paths []string            // what stood after "--" of a command that takes paths
	lists map[string][]string // the values of flags that can be repeated
	json  bool                // errors are JSON too
}

// parseLine sorts a command line: flags may stand before the command, before
// or after its arguments; everything after "--" is an argument.
func parseLine(app *cli.App, args []string) (*line, error) {
	l := &line{argv: []string{app.Name}, json: guessJSON(args)}
	if len(args) == 0 {
		args = []string{"help"}
	}
	leading, name, rest, err := findCommand(args)
	if err != nil {
		return l, err
	}
	cmd := app.Command(name)
	if cmd == nil {
		return l, unknownCommand(app, name)
	}
	w, err := split(cmd, append(leading[:len(leading):len(leading)], rest...))
	if err != nil {
		return l, err
	}
	l.json, l.lists = w.json, w.lists
	if w.help {
		w = words{args: []string{cmd.Name}}
		name = "help"
	}
	if takesPaths(cmd) {
		l.paths = w.after
	} else {
		w.args = append(w.args, w.after...)
	}
	l.argv = slices.Concat(l.argv, []string{name}, w.flags, []string{"--"}, w.args)
	return l, nil
}

// needed are the commands that the library has to set up: the one that runs,
// or all of them to explain them.
func (l *line) needed(app *cli.App) []*cli.Command {
	if name := l.argv[1]; name != helpCommand.name {
		return []*cli.Command{app.Command(name)}
	}
	return app.Commands
}

// takesPaths reports whether what follows "--" is paths, as for git restore.
// Elsewhere it is arguments that happen to begin with a dash.
func takesPaths(cmd *cli.Command) bool { return strings.HasSuffix(cmd.ArgsUsage, "[-- PATH...]") }

// guessJSON looks for --json in a line that may not be understood.
func guessJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json")
}

// findCommand separates the flags before a command from what follows it.
func findCommand(args []string) (leading []string, name string, rest []string, err error) {
	common := &cli.Command{Flags: commonFlags()}
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case !isFlag(arg):
			return args[:i], arg, args[i+1:], nil
		case arg == "--version" || arg == "-V":
			return args[:i], "version", args[i+1:], nil
		case isHelp(arg):
			return args[:i], "help", args[i+1:], nil
		}
		f, value := findFlag(common, args[i])
		if f == nil {
			return nil, "", nil, usagef("%q is no flag that may stand before a command", args[i])
		}
		if takesValue(f) && value == nil {
			i++
		}
	}
	return nil, "", nil, fail(exitUsage, "git checkpoint help", "which command?")
}

// isFlag reports whether an argument is one; "-" alone stands for standard
// input.
func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

func isHelp(arg string) bool { return arg == "-h" || arg == "--help" }

// words are the parts of a command line after its command.
type words struct {
	flags, args []string
	after       []string // what stood after "--"
	lists       map[string][]string
	json, help  bool
}

// split separates a command's flags, with their values, from its arguments.
func split(cmd *cli.Command, args []string) (w words, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			w.after = args[i+1:]
			return w, nil
		case !isFlag(arg):
			w.args = append(w.args, arg)
			continue
		case isHelp(arg):
			w.help = true
			continue
		}
		f, value := findFlag(cmd, arg)
		switch {
		case f == nil:
			return w, usagef("%s: there is no flag %q", cmd.Name, arg)
		case value == nil && takesValue(f):
			if i++; i == len(args) {
				return w, usagef("%s: %s wants a value", cmd.Name, arg)
			}
			value = &args[i]
		}
		w.add(f, value)
	}
	return w, nil
}

// add writes a flag in the one form that the library cannot take for another.
// Flags that can be repeated stay here: the library takes their values apart at
// commas, and loses bytes that are not UTF-8.
func (w *words) add(f cli.Flag, value *string) {
	name := f.Names()[0]
	if value == nil {
		value = new(string)
		*value = "true"
	}
	if _, repeated := f.(*cli.StringSliceFlag); repeated {
		if w.lists == nil {
			w.lists = map[string][]string{}
		}
		w.lists[name] = append(w.lists[name], *value)
		return
	}
	if on, err := strconv.ParseBool(*value); name == "json" && err == nil {
		w.json = on
	}
	w.flags = append(w.flags, "--"+name+"="+*value)
}

// findFlag finds a flag by one of its names, with one dash or two, and the
// value that is attached to it: --name=value, or -nvalue for a flag of one
// letter.
func findFlag(cmd *cli.Command, arg string) (cli.Flag, *string) {
	name, value, attached := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	if f := flagNamed(cmd, name); f != nil && attached {
		return f, &value
	} else if f != nil {
		return f, nil
	}
	if !strings.HasPrefix(arg, "--") && len(arg) > 2 {
		if f := flagNamed(cmd, arg[1:2]); f != nil && takesValue(f) {
			value := arg[2:]
			return f, &value
		}
	}
	return nil, nil
}

func flagNamed(cmd *cli.Command, name string) cli.Flag {
	i := slices.IndexFunc(cmd.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return nil
	}
	return cmd.Flags[i]
}

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}

// unknownCommand suggests the nearest one.
func unknownCommand(app *cli.App, name string) error {
	hint := "git checkpoint help"
	for _, c := range app.Commands {
		if name != "" && (strings.HasPrefix(c.Name, name) || strings.HasPrefix(name, c.Name)) {
			hint = "git checkpoint " + c.Name
		}
	}
	return fail(exitUsage, hint, "%q is not a command", name)
}
