package commands

import (
	"slices"
	"strings"
	"testing"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore/failure"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/urfave/cli/v2"
)

func TestParseLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string // the line as words, joined by spaces
		args       []string
		paths      []string
		json       bool
	}{
		{"no words", "app help --", nil, nil, false},
		{"argument alone", "app save -- 42", []string{"save", "42"}, nil, false},
		{"flag before its argument", "app save --phase=ready -- 42", []string{"save", "--phase", "ready", "42"}, nil, false},
		{"flag after the argument", "app save --phase=ready -- 42", []string{"save", "42", "--phase", "ready"}, nil, false},
		{"flag before the command", "app save --C=dir --json=true -- 42", []string{"-C", "dir", "--json", "save", "42"}, nil, true},
		{"-C below -C", "app save --C=dir/.. --", []string{"-C", "dir", "save", "-C", ".."}, nil, false},
		{"absolute -C after -C", "app save --C=/b --", []string{"-C", "a", "-C", "/b", "save"}, nil, false},
		{"empty -C after -C", "app save --C=a --", []string{"-C", "a", "-C", "", "save"}, nil, false},
		{"value with =", "app save --phase=a=b --", []string{"save", "--phase=a=b"}, nil, false},
		{"value that looks like a flag", "app save --message=--json --", []string{"save", "-m", "--json"}, nil, false},
		{"value --", "app save --message=-- -- 42", []string{"save", "-m", "--", "42"}, nil, false},
		{"attached short value", "app save --message=note --", []string{"save", "-mnote"}, nil, false},
		{"combined short flags", "app save --quiet=true --message=-ab -- 42", []string{"save", "-qm", "-ab", "42"}, nil, false},
		{"combined short flags with an attached value", "app save --quiet=true --message=x --", []string{"save", "-qmx"}, nil, false},
		{"combined flags that need no value", "app save --verbose=true --quiet=true --", []string{"save", "-vq"}, nil, false},
		{"empty value of some flags", "app save --message= --", []string{"save", "-m", ""}, nil, false},
		{"one dash for a long name", "app save --phase=x --", []string{"save", "-phase", "x"}, nil, false},
		{"optional value left out", "app save --push=- -- 42", []string{"save", "--push", "42"}, nil, false},
		{"optional value", "app save --push=up=x -- 42", []string{"save", "--push=up=x", "42"}, nil, false},
		{"switch off", "app save --json=false --", []string{"save", "--json=false"}, nil, false},
		{"after --", "app save -- 42 -x", []string{"save", "42", "--", "-x"}, nil, false},
		{"json after --", "app save -- --json", []string{"save", "--", "--json"}, nil, false},
		{"paths after --", "app restore -- 42", []string{"restore", "42", "--", "-x", "a"}, []string{"-x", "a"}, false},
		{"dash is an argument", "app save -- -", []string{"save", "-"}, nil, false},
		{"help wins", "app help -- save", []string{"save", "42", "--phase", "x", "-h"}, nil, false},
		{"help before", "app help -- save", []string{"--help", "save"}, nil, false},
		{"version", "app version --json=true --", []string{"--version", "--json"}, nil, true},
		{"alias", "app list -- 42", []string{"log", "42"}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := parseLine(allCommands(), c.args)
			require.NoError(t, err)
			assert.Equal(t, c.want, "app "+strings.Join(l.argv[1:], " "))
			assert.Equal(t, c.paths, l.paths)
			assert.Equal(t, c.json, l.json)
		})
	}
}

func TestParseLineRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want, hint string
		args       []string
		json       bool
	}{
		{`save: unknown flag "--tigger"`, "git checkpoint save --trigger", []string{"save", "--tigger", "x", "--json"}, true},
		{`save: unknown flag "-x"`, "", []string{"save", "-x"}, false},
		{`save: --trigger is empty`, "", []string{"save", "--trigger="}, false},
		{`list: --issue is empty`, "", []string{"list", "--issue", "", "--json"}, true},
		{`list: -n: "x": want a number`, "", []string{"list", "-nx", "--json"}, true},
		{`list: -n: "": want a number`, "", []string{"list", "-n", ""}, false},
		{`save: --batch: "99999999999999999999": want a number`, "", []string{"save", "--batch=99999999999999999999"}, false},
		{`"frob" is not a command`, "git checkpoint help", []string{"frob"}, false},
		{`"sav" is not a command`, "git checkpoint save", []string{"sav", "--json"}, true},
		{`"rollback" is not a command`, "git checkpoint restore", []string{"rollback"}, false},
		{`"pop" is not a command`, "git checkpoint restore", []string{"pop"}, false},
		{`"rewind" is not a command`, "git checkpoint restore", []string{"rewind"}, false},
		{`"setup" is not a command`, "git checkpoint enable", []string{"setup"}, false},
		{`"info" is not a command`, "git checkpoint show", []string{"info"}, false},
		{`"st" is not a command`, "git checkpoint status", []string{"st"}, false},
		{`"" is not a command`, "git checkpoint help", []string{""}, false},
		{`"--phase" is not a flag that can precede a command`, "git checkpoint help", []string{"--phase", "x", "save"}, false},
		{`no command given`, "git checkpoint help", []string{"--json"}, true},
		{`no command given`, "git checkpoint help", []string{"-C"}, false},
	} {
		l, err := parseLine(allCommands(), c.args)
		require.EqualError(t, err, c.want)
		f := failure.Classify(err)
		assert.Equal(t, failure.Usage, f.Code, c.want)
		assert.Equal(t, c.hint, f.Hint, c.want)
		assert.Equal(t, c.json, l.json, c.want)
	}
}

// Values of repeatable flags are not split at commas, and keep invalid UTF-8 bytes.
func TestRepeatedFlags(t *testing.T) {
	t.Parallel()
	var got []string
	save := &invoke.Command{Name: "save", Max: 1, New: func() ([]cli.Flag, func(*invoke.Invocation) error) {
		var sets invoke.List
		return []cli.Flag{&cli.GenericFlag{Name: "set", Value: &sets}}, func(*invoke.Invocation) error { got = sets; return nil }
	}}
	for range 2 { // each run has its own list
		env := &invoke.Env{Stdout: t.Output(), Stderr: t.Output()}
		args := []string{"save", "--set", "a=1, 2", "42", "--set=b= x ", "--set", "caf\xe9", "--set="}
		require.Zero(t, runLine(t.Context(), env, []*invoke.Command{save}, args))
		assert.Equal(t, []string{"a=1, 2", "b= x ", "caf\xe9", ""}, got)
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add("save", "42", "--phase=x", "--")
	f.Add("-C", "x", "restore", "-mx")
	f.Add("", "-", "---", "--=")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		l, err := parseLine(allCommands(), []string{a, b, c, d})
		require.NotNil(t, l)
		if err != nil {
			assert.Equal(t, failure.Usage, failure.Classify(err).Code)
		}
	})
}

// Every command has help, with an example that contains its name. Each category is named once.
func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, allCommands())
	var categories []string // of the commands before
	for _, cmd := range allCommands() {
		if len(categories) == 0 || categories[len(categories)-1] != cmd.Category {
			assert.NotContains(t, categories, cmd.Category, cmd.Name)
			categories = append(categories, cmd.Category)
		}
		text := explain(cmd, true)
		assert.NotEmpty(t, cmd.Usage, cmd.Name)
		assert.Contains(t, text, "Examples\n  git checkpoint ", cmd.Name)
		assert.Contains(t, text, "--json", cmd.Name)
		for _, f := range cmd.OwnFlags() {
			assert.NotEmpty(t, declaredFlag(f).Text, cmd.Name+" "+f.Names()[0])
		}
		assert.Equal(t, !cmd.Hidden, strings.Contains(fullOverview(allCommands()), cmd.Usage), cmd.Name)
	}
}

// A flag without a variable for its value would be declared, and never read. The library needs
// only the flags that are given or have a default: a flag type whose default would be missed
// fails.
func TestEveryFlagHasAVariableAndAKnownDefault(t *testing.T) {
	t.Parallel()
	read := []string{"json", "turn"} // by the parser, and by several commands
	for _, cmd := range allCommands() {
		for _, f := range allFlags(cmd) {
			bound := slices.Contains(read, f.Names()[0])
			switch f := f.(type) {
			case *cli.StringFlag:
				bound = bound || f.Destination != nil
			case *cli.IntFlag:
				bound = bound || f.Destination != nil
			case *cli.BoolFlag:
				bound = bound || f.Destination != nil
			case *cli.GenericFlag:
				bound = bound || f.Value != nil
			case invoke.OptionalFlag:
				bound = bound || f.Destination != nil
				assert.Empty(t, f.Value, f.Name)
			default:
				t.Errorf("%s: a %T: line.flags does not know its default", cmd.Name, f)
			}
			assert.True(t, bound, "%s --%s", cmd.Name, f.Names()[0])
		}
	}
	assert.Equal(t, []string{"trigger", "quiet"}, flagsOf(t, "save", "42", "-q"))
	assert.Subset(t, flagsOf(t, "run", "--", "true"), []string{"retry-wait"})
}

// allFlags returns every flag that a command accepts.
func allFlags(d *invoke.Command) []cli.Flag {
	l := &line{command: d}
	l.start()
	return l.flags
}

// flagsOf returns a line's flags as passed to the library.
func flagsOf(t *testing.T, line ...string) (names []string) {
	t.Helper()
	l, err := parseLine(allCommands(), line)
	require.NoError(t, err)
	for _, f := range l.givenFlags() {
		names = append(names, f.Names()[0])
	}
	return names
}
