package commands

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// A line is a command line made ready for the library, which takes flags only
// before arguments and silently makes arguments of those after them.
type line struct {
	argv  []string // program, command, flags, "--", arguments
	paths []string // what stood after "--"
	json  bool     // errors are JSON too
}

// parseLine sorts a command line: flags may stand before the command, before
// or after its arguments; everything after "--" is an argument.
func parseLine(app *cli.App, args []string) (*line, error) {
	l := &line{}
	if i := slices.Index(args, "--"); i >= 0 {
		args, l.paths = args[:i], args[i+1:]
	}
	l.json = slices.Contains(args, "--json")
	l.argv = []string{app.Name}
	leading, name, rest, err := findCommand(args)
	if err != nil || name == "" {
		l.argv = append(l.argv, leading...)
		return l, err
	}
	cmd := app.Command(name)
	if cmd == nil {
		return l, unknownCommand(app, name)
	}
	flags, words, err := split(cmd, append(leading, rest...))
	if err != nil {
		return l, err
	}
	l.argv = append(append(append(l.argv, name), flags...), "--")
	l.argv = append(l.argv, words...)
	return l, nil
}

// findCommand separates the flags before a command from what follows it.
func findCommand(args []string) (leading []string, name string, rest []string, err error) {
	common := &cli.Command{Flags: commonFlags()}
	for i := 0; i < len(args); i++ {
		if !isFlag(args[i]) {
			return args[:i], args[i], args[i+1:], nil
		}
		if args[i] == "--version" || args[i] == "-V" {
			return nil, "version", args[i+1:], nil
		}
		if args[i] == "-h" || args[i] == "--help" {
			return nil, "help", args[i+1:], nil
		}
		f := findFlag(common, args[i])
		if f == nil {
			return nil, "", nil, usagef("%q is no flag that may stand before a command", args[i])
		}
		if takesValue(f) && !strings.Contains(args[i], "=") {
			i++
		}
	}
	return nil, "", nil, nil
}

// isFlag reports whether an argument is one; "-" alone stands for standard
// input.
func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// split separates a command's flags, with their values, from its arguments.
func split(cmd *cli.Command, args []string) (flags, words []string, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if !isFlag(arg) {
			words = append(words, arg)
			continue
		}
		f := findFlag(cmd, arg)
		if f == nil && arg != "-h" && arg != "--help" {
			return nil, nil, usagef("%s: there is no flag %q", cmd.Name, arg)
		}
		flags = append(flags, arg)
		if f == nil || !takesValue(f) || strings.Contains(arg, "=") {
			continue
		}
		if i++; i == len(args) {
			return nil, nil, usagef("%s: %s wants a value", cmd.Name, arg)
		}
		flags = append(flags, args[i])
	}
	return flags, words, nil
}

// findFlag finds a flag by one of its names, with one dash or two.
func findFlag(cmd *cli.Command, arg string) cli.Flag {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	for _, f := range cmd.Flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}

// unknownCommand suggests the nearest one.
func unknownCommand(app *cli.App, name string) error {
	hint := "git checkpoint help"
	for _, c := range app.Commands {
		if strings.HasPrefix(c.Name, name) || strings.HasPrefix(name, c.Name) {
			hint = "git checkpoint " + c.Name
		}
	}
	return fail(exitUsage, hint, "%q is not a command", name)
}
