package commands

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/commands/internal/config"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/manual"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

var helpCommand = invoke.Command{
	Name: "help", Usage: "explain a command, or print a guide", Args: "[COMMAND|GUIDE]", Max: 1, Category: "Help",
	Description: "The name of a man page prints this page: git checkpoint help git-checkpoint prints the\n" +
		"forms of ISSUE and ID, the exit codes, the environment and the files.\n" +
		"Without --all, the list has the everyday commands and the help of a command its\n" +
		"everyday flags. git checkpoint COMMAND --help-all is the same as help --all COMMAND.\n" +
		"--man writes all man pages, by default to ../share/man beside the directory of this\n" +
		"program, where man finds them.",
	Examples: []string{
		"git checkpoint help --all", "git checkpoint help save", "git checkpoint help git-checkpoint", "git checkpoint help agents",
		"git checkpoint help --man=build/man",
	},
	New: invoke.Bind((*helpOptions).flags, runHelp),
}

type helpOptions struct {
	all bool            // all commands, or all flags
	man invoke.Optional // directory of the man pages
}

func (o *helpOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "list all commands and guides, or all flags of the command", Destination: &o.all},
		invoke.OptionalFlag{StringFlag: &cli.StringFlag{Name: "man", Usage: "write the man pages below `DIR`", Destination: (*string)(&o.man)}},
	}
}

func runHelp(c *invoke.Invocation, o *helpOptions) error {
	text, err := helpText(c, o)
	if err != nil {
		return err
	}
	if c.Line.JSON {
		return c.WriteJSON(view.Help{Type: "help", Text: text})
	}
	c.Printf("%s", text)
	return nil
}

// helpText returns the text that the arguments select.
func helpText(c *invoke.Invocation, o *helpOptions) (string, error) {
	switch {
	case o.man.Given():
		return writeMan(c, o.man.Value())
	case len(c.Line.Args) == 0 && o.all:
		return fullOverview(c.Line.Commands), nil
	case len(c.Line.Args) == 0:
		return overview(c.Line.Commands), nil
	}
	if cmd := commandNamed(c.Line.Commands, c.Line.Args[0]); cmd != nil {
		return explain(cmd, o.all), nil
	}
	pages := manual.Pages(declared(c.Line.Commands))
	if i := slices.IndexFunc(pages, func(p manual.Page) bool { return p.Name == c.Line.Args[0] || p.Name == progName+"-"+c.Line.Args[0] }); i >= 0 {
		return pages[i].Text(), nil
	}
	guides := view.Each(manual.Topics(), func(g manual.Guide) string { return g.Name })
	meant := cmp.Or(meantCommand(c.Line.Commands, c.Line.Args[0]), invoke.Nearest(c.Line.Args[0], guides))
	hint := strings.TrimSuffix("git checkpoint help "+meant, " ")
	return "", failure.Errorf(failure.Usage, hint, "%q is neither a command nor a guide", c.Line.Args[0])
}

// writeMan writes the man pages to dir, or to the default, and returns their paths.
func writeMan(c *invoke.Invocation, dir string) (string, error) {
	if len(c.Line.Args) > 0 {
		return "", failure.Usagef("help: --man takes no command: it writes all pages")
	}
	if dir == "" { // share/man beside the directory of git-checkpoint on PATH
		program, err := exec.LookPath(progName)
		if err != nil {
			return "", failure.Errorf(failure.Usage, "git checkpoint help --man=DIR", "help: --man: %w", err)
		}
		if program, err = filepath.Abs(program); err != nil {
			return "", fmt.Errorf("help: --man: %w", err)
		}
		dir = filepath.Join(filepath.Dir(filepath.Dir(program)), "share", "man")
	}
	tool := declared(c.Line.Commands)
	tool.Date = cmp.Or(tool.Date, c.Env.Now().UTC().Format(time.DateOnly))
	var names strings.Builder
	for _, p := range manual.Pages(tool) {
		name := filepath.Join(dir, filepath.FromSlash(p.File()))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return "", fmt.Errorf("help: --man: %w", err)
		}
		if err := os.WriteFile(name, p.Roff(), 0o666); err != nil {
			return "", fmt.Errorf("help: --man: %w", err)
		}
		fmt.Fprintln(&names, name)
	}
	return names.String(), nil
}

// toolUsage describes the program in one line.
const toolUsage = "save the state of long work on an issue, and resume it"

// declared returns all command declarations for the manual and shell completion.
func declared(commands []*invoke.Command) *manual.Tool {
	v := buildVersion()
	date, _, _ := strings.Cut(v.Date, "T")
	t := &manual.Tool{
		Name: progName, Usage: toolUsage, Version: v.Program, Date: date,
		Common: view.Each(invoke.CommonFlags(), declaredFlag), Variables: config.Variables,
	}
	for _, c := range commands {
		t.Commands = append(t.Commands, manual.CommandDoc{
			Name: c.Name, Alias: c.Alias, Category: c.Category, Usage: c.Usage, Args: c.Args,
			Description: c.Description, Examples: c.Examples, Flags: view.Each(c.OwnFlags(), declaredFlag),
		})
	}
	t.Settings = declaredSettings()
	t.Fields = view.Each(checkpoint.Fields(), func(f checkpoint.Field) manual.Variable {
		return manual.Variable{Name: f.Path, Text: f.Text + " (" + f.Kind + ")."}
	})
	return t
}

// declaredSettings returns the documentation of the settings. Entries of a mapping belong to
// its setting.
func declaredSettings() []manual.SettingDoc {
	var list []manual.SettingDoc
	for _, k := range config.Keys() {
		doc := manual.SettingDoc{
			Name: k.Name, GitName: config.GitName(k.Name), Variable: config.Variable(k.Name), Values: k.Takes(), Default: k.Default,
			FromFile: k.FromFile(), Text: k.Doc,
		}
		g := k.Group()
		if g == nil {
			list = append(list, doc)
			continue
		}
		if list[len(list)-1].Name != g.Name {
			list = append(list, manual.SettingDoc{
				Name: g.Name, GitName: config.GitName(g.Name) + "." + g.Entry,
				Variable: config.Variable(g.Name) + "_" + g.Entry, Text: g.Doc,
			})
		}
		last := &list[len(list)-1]
		last.Entries = append(last.Entries, doc)
	}
	return list
}

// declaredFlag returns the documentation of a flag. The word in backquotes in the flag's
// usage is the name of its value. If it is in parentheses, the text does not repeat it.
func declaredFlag(f cli.Flag) manual.FlagDoc {
	doc := f.(cli.DocGenerationFlag)
	before, rest, _ := strings.Cut(doc.GetUsage(), "`")
	value, after, _ := strings.Cut(rest, "`")
	_, optional := f.(invoke.OptionalFlag)
	text := before + value + after
	if name := " (`" + value + "`)"; strings.Contains(doc.GetUsage(), name) {
		text = strings.Replace(doc.GetUsage(), name, "", 1)
	}
	d := manual.FlagDoc{Names: slices.Clone(f.Names()), Text: text, Optional: optional}
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
	case *cli.GenericFlag:
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
