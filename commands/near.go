package commands

import (
	"errors"
	"strings"

	"git-checkpoint/commands/config"
)

// otherNames are words by which people look for a command that is called
// something else here.
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

// nearest is the candidate that a word is most likely meant for, "" for none: one
// that it is the beginning of or begins with, else one that a slip or two away
// is.
func nearest(word string, candidates []string) string {
	if word == "" {
		return ""
	}
	best, least := "", 1+min(2, len(word)/3)
	for _, c := range candidates {
		if strings.HasPrefix(c, word) || strings.HasPrefix(word, c) {
			return c
		}
		if n := config.EditDistance(word, c); n < least {
			best, least = c, n
		}
	}
	return best
}

// unknownCommand tells of a word that is no command, and of the one that was
// meant.
func unknownCommand(commands []*command, word string) error {
	return fail(exitUsage, "git checkpoint "+first(meantCommand(commands, word), "help"), "%q is not a command", word)
}

// meantCommand is the command that a word is most likely meant for, "" for none.
func meantCommand(commands []*command, word string) string {
	names := make([]string, 0, len(commands))
	for _, c := range commands {
		names = append(names, c.name)
	}
	for _, other := range otherNames {
		if word == other[0] {
			return other[1]
		}
	}
	return nearest(word, names)
}

// unknownFlag tells of a flag that a command does not have, and of the one that
// was meant.
func unknownFlag(cmd *command, arg string) error {
	var names []string
	for _, f := range cmd.allFlags() {
		if name := f.Names()[0]; len(name) > 1 {
			names = append(names, name)
		}
	}
	name, long := strings.CutPrefix(arg, "--")
	name, _, _ = strings.Cut(name, "=")
	hint := ""
	if meant := nearest(name, names); long && meant != "" {
		hint = "git checkpoint " + cmd.name + " --" + meant
	}
	return fail(exitUsage, hint, "%s: there is no flag %q", cmd.name, arg)
}

// withHelp points who mistook a command to its help, where there is no better
// hint.
func (l *line) withHelp(err error) error {
	var f *failure
	if l.command == nil || !errors.As(err, &f) || f.code != exitUsage || f.hint != "" {
		return err
	}
	with := *f
	with.hint = "git checkpoint help " + l.command.name
	return &with
}

// unknownVerb tells of a word that is none of a command's verbs, or is missing,
// and of the one that was meant; usual is one that changes nothing.
func unknownVerb(cmd, word, usual string, verbs []string) error {
	hint := "git checkpoint " + cmd + " " + first(nearest(word, verbs), usual)
	if word == "" {
		return fail(exitUsage, hint, "%s: which of %s?", cmd, list(verbs))
	}
	return fail(exitUsage, hint, "%s: %q is none of %s", cmd, word, list(verbs))
}
