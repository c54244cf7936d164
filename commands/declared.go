package commands

import (
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/commands/internal/config"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/manual"

	"github.com/urfave/cli/v2"
)

// declared returns all command declarations for the manual and shell completion.
func declared(commands []*invoke.Command) *manual.Tool {
	v := buildVersion()
	date, _, _ := strings.Cut(v.Date, "T")
	t := &manual.Tool{
		Name: progName, Usage: toolUsage, Version: v.Program, Date: date,
		Common: declaredFlags(invoke.CommonFlags()),
	}
	for _, c := range commands {
		t.Commands = append(t.Commands, manual.CommandDoc{
			Name: c.Name, Alias: c.Alias, Category: c.Category, Usage: c.Usage, Args: c.Args,
			Description: c.Description, Examples: c.Examples, Flags: declaredFlags(c.OwnFlags()),
		})
	}
	for _, k := range config.Keys() {
		t.Settings = append(t.Settings, manual.SettingDoc{
			Name: k.Name, GitName: k.GitName(), Variable: k.Variable(), Values: k.Takes(), Default: k.Default,
			FromFile: k.FromFile(), Text: k.Doc,
		})
	}
	for _, v := range config.Variables() {
		t.Variables = append(t.Variables, manual.Variable{Name: v.Name, Text: v.Doc})
	}
	return t
}

func declaredFlags(flags []cli.Flag) []manual.FlagDoc {
	list := make([]manual.FlagDoc, len(flags))
	for i, f := range flags {
		list[i] = declaredFlag(f)
	}
	return list
}

// declaredFlag returns the documentation of a flag. The word in backquotes in the flag's
// usage is the name of its value.
func declaredFlag(f cli.Flag) manual.FlagDoc {
	doc := f.(cli.DocGenerationFlag)
	before, rest, _ := strings.Cut(doc.GetUsage(), "`")
	value, after, _ := strings.Cut(rest, "`")
	_, optional := f.(invoke.OptionalFlag)
	d := manual.FlagDoc{Names: slices.Clone(f.Names()), Text: before + value + after, Optional: optional}
	slices.Reverse(d.Names)
	if optional || doc.TakesValue() {
		d.Value = strings.Join(choicesOf(value, after), "|")
	}
	switch f := f.(type) {
	case *cli.StringFlag:
		d.Default = f.Value
	case *cli.IntFlag:
		if f.Value != 0 {
			d.Default = strconv.Itoa(f.Value)
		}
	case *cli.StringSliceFlag:
		d.Repeated = true
	}
	return d
}

// choicesOf returns the values that a flag's usage lists: "answer: `r`, s or d". A word
// in capitals is a placeholder for any value.
func choicesOf(value, after string) []string {
	list := []string{value}
	if strings.ToLower(value) != value {
		return list
	}
	for {
		next, ok := strings.CutPrefix(after, ", ")
		if !ok {
			if next, ok = strings.CutPrefix(after, " or "); !ok {
				return list
			}
		}
		end := strings.IndexFunc(next+" ", func(r rune) bool { return r < 'a' || r > 'z' })
		list, after = append(list, next[:end]), next[end:]
	}
}
