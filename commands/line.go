package commands

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/manual"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// parseLine parses a command line. Flags may come before the command, and before or after
// its arguments. Words after "--" are arguments.
func parseLine(commands []*invoke.Command, args []string) (*line, error) {
	options := args
	if i := slices.Index(args, "--"); i >= 0 {
		options = args[:i]
	}
	l := &line{json: slices.Contains(options, "--json"), commands: commands} // also if the line is invalid
	if len(args) == 0 {
		args = []string{"help"}
	}
	leading, name, rest, err := findCommand(args)
	if err != nil {
		return l, err
	}
	if l.command = commandNamed(commands, name); l.command == nil {
		return l, failure.Errorf(failure.Usage, "git checkpoint "+cmp.Or(meantCommand(commands, name), "help"), "%q is not a command", name)
	}
	l.start()
	w, err := split(l.command, l.flags, append(leading[:len(leading):len(leading)], rest...))
	if err != nil {
		return l, err
	}
	l.json = w.json
	if w.help {
		h := words{args: []string{l.command.Name}}
		if w.helpAll {
			h.flags, h.given = []string{"--all=true"}, []string{"all"}
		}
		w, l.command = h, commandNamed(commands, "help")
		l.start()
	}
	l.given = w.given
	// The words after "--" are separate if they are paths, as for git restore, or a command.
	if args := l.command.Args; strings.HasSuffix(args, "[-- PATH...]") || strings.HasSuffix(strings.TrimSuffix(args, "]"), "-- CMD...") {
		l.paths = w.after
	} else {
		w.args = append(w.args, w.after...)
	}
	l.argv = slices.Concat([]string{progName, l.command.Name}, w.flags, []string{"--"}, w.args)
	return l, nil
}

// A line is a command line in the form that the cli library needs. The library accepts
// flags only before arguments, and silently treats later flags as arguments.
type line struct {
	command  *invoke.Command // command to run
	run      func(*invoke.Invocation) error
	flags    []cli.Flag    // flags of the command, with those of every command
	common   invoke.Common // values of the flags of every command
	argv     []string      // program, command, flags, "--", arguments
	paths    []string      // words after "--", if the command takes paths
	given    []string      // names of the flags in argv
	json     bool          // print errors as JSON
	commands []*invoke.Command
}

// start makes the flags of a new run of the command.
func (l *line) start() {
	own, run := l.command.Start()
	l.run, l.flags = run, append(own, l.common.Flags()...)
}

// findCommand separates leading flags, command name and remaining words.
func findCommand(args []string) (leading []string, name string, rest []string, err error) {
	common := invoke.CommonFlags()
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case !isFlag(arg):
			return args[:i], arg, args[i+1:], nil
		case arg == "--version" || arg == "-V":
			return args[:i], "version", args[i+1:], nil
		case arg == helpAll:
			return args[:i], "help", append([]string{"--all"}, args[i+1:]...), nil
		case isHelp(arg):
			return args[:i], "help", args[i+1:], nil
		}
		f, value := findFlag(common, args[i])
		if f == nil {
			return nil, "", nil, failure.Errorf(failure.Usage, "git checkpoint help", "%q is not a flag that can precede a command", args[i])
		}
		if takesValue(f) && value == nil {
			i++
		}
	}
	return nil, "", nil, failure.Errorf(failure.Usage, "git checkpoint help", "no command given")
}

// isFlag reports whether an argument is a flag. A single "-" means standard input.
func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// helpAll is the flag for the help with all flags.
const helpAll = "--help-all"

func isHelp(arg string) bool { return arg == "-h" || arg == "--help" || arg == helpAll }

// findFlag returns the flag of an argument with one or two dashes, and its attached
// value: --name=value, or -nvalue for one-letter flags.
func findFlag(flags []cli.Flag, arg string) (cli.Flag, *string) {
	name, value, attached := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	if f := flagNamed(flags, name); f != nil && attached {
		return f, &value
	} else if f != nil {
		return f, nil
	}
	if !strings.HasPrefix(arg, "--") && len(arg) > 2 {
		if f := flagNamed(flags, arg[1:2]); f != nil && takesValue(f) {
			value := arg[2:]
			return f, &value
		}
	}
	return nil, nil
}

func flagNamed(flags []cli.Flag, name string) cli.Flag {
	i := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return nil
	}
	return flags[i]
}

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}

// commandNamed returns the command with a name or alias, or nil.
func commandNamed(commands []*invoke.Command, name string) *invoke.Command {
	i := slices.IndexFunc(commands, func(c *invoke.Command) bool { return c.Name == name || c.Alias != "" && c.Alias == name })
	if i < 0 {
		return nil
	}
	return commands[i]
}

// meantCommand returns the command that a word probably means, or "".
func meantCommand(commands []*invoke.Command, word string) string {
	names := view.Each(commands, func(c *invoke.Command) string { return c.Name })
	for _, other := range otherNames {
		if word == other[0] {
			return other[1]
		}
	}
	return invoke.Nearest(word, names)
}

// otherNames maps common names of other tools to this program's commands.
var otherNames = [][2]string{
	{"ls", "list"},
	{"history", "list"},
	{"view", "show"},
	{"cat", "show"},
	{"delete", "drop"},
	{"remove", "drop"},
	{"rm", "drop"},
	{"create", "save"},
	{"commit", "save"},
	{"continue", "resume"},
	{"clean", "prune"},
	{"cleanup", "prune"},
	{"gc", "prune"},
	{"begin", "start"},
	{"init", "enable"},
	{"start-over", "archive"},
	{"end", "finish"},
	{"check", "verify"},
	{"fsck", "verify"},
	{"pull", "fetch"},
	{"revert", "undo"},
	{"stash", "save"},
	{"load", "restore"},
	{"apply", "restore"},
	{"pop", "restore"},
	{"checkout", "restore"},
	{"goto", "restore"},
	{"back", "restore"},
	{"rollback", "restore"},
	{"rewind", "restore"},
	{"setup", "enable"},
	{"info", "show"},
	{"st", "status"},
}

// split separates the flags and their values from the arguments.
func split(cmd *invoke.Command, flags []cli.Flag, args []string) (w words, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			w.after = args[i+1:]
			return w, nil
		case !isFlag(arg), cmd.Name == "config" && isNumber(arg): // a value of config set
			w.args = append(w.args, arg)
			continue
		case isHelp(arg):
			w.help, w.helpAll = true, w.helpAll || arg == helpAll
			continue
		}
		f, value := findFlag(flags, arg)
		switch {
		case f == nil && isCombined(flags, arg):
			args = slices.Concat(args[:i], []string{arg[:2], "-" + arg[2:]}, args[i+1:])
			i--
			continue
		case f == nil:
			return w, unknownFlag(cmd, flags, arg)
		case value == nil && takesValue(f):
			if i++; i == len(args) {
				return w, failure.Usagef("%s: %s needs a value", cmd.Name, arg)
			}
			value = &args[i]
		}
		if err := checkValue(cmd, f, value); err != nil {
			return w, err
		}
		w.add(f, value)
	}
	return w, nil
}

func isNumber(arg string) bool {
	_, err := strconv.Atoi(arg)
	return err == nil
}

// isCombined reports whether an argument combines one-letter flags, as -am. As in git, only
// the last flag can have a value.
func isCombined(flags []cli.Flag, arg string) bool {
	if strings.HasPrefix(arg, "--") || len(arg) < 3 {
		return false
	}
	for i := 1; i < len(arg); i++ {
		f := flagNamed(flags, arg[i:i+1])
		if f == nil || takesValue(f) {
			return f != nil && i > 1
		}
	}
	return true
}

// words are the parts of a command line after the command name.
type words struct {
	flags, args []string
	given       []string // names of flags
	after       []string // words after "--"
	json, help  bool
	helpAll     bool // with all flags
}

// unknownFlag returns the error for an unknown flag, with the probable flag as its hint.
func unknownFlag(cmd *invoke.Command, flags []cli.Flag, arg string) error {
	var names []string
	for _, f := range flags {
		if name := f.Names()[0]; len(name) > 1 {
			names = append(names, name)
		}
	}
	name, long := strings.CutPrefix(arg, "--")
	name, _, _ = strings.Cut(name, "=")
	hint := ""
	if meant := invoke.Nearest(name, names); long && meant != "" {
		hint = "git checkpoint " + cmd.Name + " --" + meant
	}
	return failure.Errorf(failure.Usage, hint, "%s: unknown flag %q", cmd.Name, arg)
}

// checkValue returns an error for a value that is not of the flag's type. An empty text is an
// error too: an unset variable in a script must not change the command's meaning.
func checkValue(d *invoke.Command, f cli.Flag, value *string) error {
	if value == nil {
		return nil
	}
	name := f.Names()[0]
	switch f.(type) {
	case *cli.IntFlag:
		if _, err := strconv.ParseInt(*value, 0, strconv.IntSize); err != nil {
			return failure.Usagef("%s: %s: %q: want a number", d.Name, manual.Dashed(name), *value)
		}
	case *cli.BoolFlag:
		if _, err := strconv.ParseBool(*value); err != nil {
			return failure.Usagef("%s: %s: %q: want true or false", d.Name, manual.Dashed(name), *value)
		}
	case *cli.StringFlag, invoke.OptionalFlag:
		if *value == "" && name != "C" && !slices.Contains(d.MayBeEmpty, name) {
			return failure.Usagef("%s: %s is empty", d.Name, manual.Dashed(name))
		}
	}
	return nil
}

// add appends a flag as --name=value, the only form that the library cannot misread.
func (w *words) add(f cli.Flag, value *string) {
	name := f.Names()[0]
	if value == nil {
		value = new(string)
		*value = "true"
		if _, optional := f.(invoke.OptionalFlag); optional {
			*value = invoke.LeftOut
		}
	}
	if i := slices.Index(w.given, "C"); name == "C" && i >= 0 {
		w.flags[i] = "--C=" + joinDir(strings.TrimPrefix(w.flags[i], "--C="), *value)
		return
	}
	if on, err := strconv.ParseBool(*value); name == "json" && err == nil {
		w.json = on
	}
	w.flags, w.given = append(w.flags, "--"+name+"="+*value), append(w.given, name)
}

// joinDir returns the directory of a -C after the -C of another directory. As in git, a
// relative directory is relative to the -C before it.
func joinDir(first, dir string) string {
	switch {
	case dir == "":
		return first
	case first == "" || filepath.IsAbs(dir):
		return dir
	}
	return first + "/" + dir // not cleaned: ".." of a symlink is the parent of its target
}

// givenFlags returns the command's flags that are given or have a default. The library treats
// unknown flags as zero values.
func (l *line) givenFlags() []cli.Flag {
	return slices.DeleteFunc(l.flags, func(f cli.Flag) bool {
		text, isText := f.(*cli.StringFlag)
		number, isNumber := f.(*cli.IntFlag)
		on, isOn := f.(*cli.BoolFlag)
		usual := isText && text.Value != "" || isNumber && number.Value != 0 || isOn && on.Value
		return !usual && !slices.Contains(l.given, f.Names()[0])
	})
}

// withHelp adds the command's help as a hint to a usage error without a hint.
func (l *line) withHelp(err error) error {
	var f *failure.Error
	if l.command == nil || !errors.As(err, &f) || f.Code != failure.Usage || f.Hint != "" {
		return err
	}
	return f.WithHint("git checkpoint help " + l.command.Name)
}
