package commands

import (
	"cmp"
	"errors"
	"strings"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
)

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
	{"init", "start"},
	{"end", "finish"},
	{"check", "verify"},
	{"fsck", "verify"},
	{"pull", "fetch"},
	{"revert", "undo"},
}

// unknownCommand returns the error for an unknown command, with the probable command as
// its hint.
func unknownCommand(commands []*invoke.Command, word string) error {
	return exit.Errorf(exit.Usage, "git checkpoint "+cmp.Or(meantCommand(commands, word), "help"), "%q is not a command", word)
}

// meantCommand returns the command that a word probably means, or "".
func meantCommand(commands []*invoke.Command, word string) string {
	names := make([]string, 0, len(commands))
	for _, c := range commands {
		names = append(names, c.Name)
	}
	for _, other := range otherNames {
		if word == other[0] {
			return other[1]
		}
	}
	return invoke.Nearest(word, names)
}

// unknownFlag returns the error for an unknown flag, with the probable flag as its hint.
func unknownFlag(cmd *invoke.Command, arg string) error {
	var names []string
	for _, f := range allFlags(cmd) {
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
	return exit.Errorf(exit.Usage, hint, "%s: there is no flag %q", cmd.Name, arg)
}

// withHelp adds the command's help as a hint to a usage error without a hint.
func (l *line) withHelp(err error) error {
	var f *exit.Error
	if l.command == nil || !errors.As(err, &f) || f.ExitCode() != exit.Usage || f.ExitHint() != "" {
		return err
	}
	return f.WithHint("git checkpoint help " + l.command.Name)
}
