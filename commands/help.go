package commands

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/manual"
	"git-checkpoint/commands/internal/output"

	"github.com/urfave/cli/v2"
)

// toolUsage describes the program in one line.
const toolUsage = "record where long work on an issue stands, and resume it"

var helpCommand = invoke.Command{
	Name: "help", Usage: "explain a command, or print a guide", Args: "[COMMAND|GUIDE]", Max: 1, Category: "Help",
	Description: "With --man, writes the man pages, by default to the place beside this program's\n" +
		"directory where man finds them: ../share/man.",
	Examples: []string{"git checkpoint help save", "git checkpoint help recipes", "git checkpoint help --man=build/man"},
	Flags:    helpFlags,
	Run:      runHelp,
}

func helpFlags() []cli.Flag {
	return []cli.Flag{
		invoke.OptionalFlag{StringFlag: &cli.StringFlag{Name: "man", Usage: "write the man pages below `DIR`"}},
	}
}

func runHelp(c *invoke.Invocation) error {
	text, err := helpText(c)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.WriteJSON(output.Help{Type: "help", Text: text})
	}
	c.Printf("%s", text)
	return nil
}

// helpText returns the text that the arguments select.
func helpText(c *invoke.Invocation) (string, error) {
	switch {
	case c.Flags.IsSet("man"):
		return writeMan(c)
	case len(c.Args) == 0:
		return overview(c.Commands), nil
	}
	if cmd := commandNamed(c.Commands, c.Args[0]); cmd != nil {
		return explain(cmd), nil
	}
	name := progName + "-" + c.Args[0]
	pages := manual.Pages(declared(c.Commands))
	if i := slices.IndexFunc(pages, func(p manual.Page) bool { return p.Name == name }); i >= 0 {
		return pages[i].Text(), nil
	}
	var guides []string
	for _, g := range manual.Topics() {
		guides = append(guides, g.Name)
	}
	meant := cmp.Or(meantCommand(c.Commands, c.Args[0]), invoke.Nearest(c.Args[0], guides))
	hint := strings.TrimSuffix("git checkpoint help "+meant, " ")
	return "", exit.Errorf(exit.Usage, hint, "%q is neither a command nor a guide", c.Args[0])
}

// overview returns the list of commands by category.
func overview(commands []*invoke.Command) string {
	var b strings.Builder
	b.WriteString("usage: git checkpoint <command> [arguments]\n\n" +
		toolUsage + "\n\n" +
		"  git checkpoint save 42 -m 'half way'   record where work on issue 42 stands\n" +
		"  git checkpoint status                  how far it is, and what resume would do\n" +
		"  git checkpoint resume                  go on from there, after a crash or elsewhere\n")
	category := ""
	for _, cmd := range commands {
		if cmd.Category != category {
			category = cmd.Category
			fmt.Fprintf(&b, "\n%s\n", category)
		}
		fmt.Fprintf(&b, "  %-10s %s\n", cmd.Name, cmd.Usage)
	}
	b.WriteString("\nGuides\n")
	for _, g := range manual.Topics() {
		fmt.Fprintf(&b, "  %-10s %s\n", g.Name, g.Usage)
	}
	b.WriteString("\ngit checkpoint help COMMAND or GUIDE explains one.\n")
	return b.String()
}

// explain returns the help text of one command.
func explain(cmd *invoke.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: git checkpoint %s\n", strings.TrimSpace(cmd.Name+" [flags] "+cmd.Args))
	if cmd.Alias != "" {
		fmt.Fprintf(&b, "       git checkpoint %s is the same\n", cmd.Alias)
	}
	fmt.Fprintf(&b, "\n%s\n", cmd.Usage)
	if cmd.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", cmd.Description)
	}
	explainFlags(&b, "Flags", declaredFlags(cmd.OwnFlags()))
	explainFlags(&b, "Flags of every command", declaredFlags(invoke.CommonFlags()))
	fmt.Fprintf(&b, "\nExamples\n")
	for _, line := range cmd.Examples {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return b.String()
}

// flagColumn is the column of the flag descriptions.
const flagColumn = 25

func explainFlags(b *strings.Builder, title string, flags []manual.FlagDoc) {
	if len(flags) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for i := range flags {
		typed := "  " + flags[i].Typed()
		if len(typed) >= flagColumn {
			fmt.Fprintln(b, typed)
			typed = ""
		}
		b.WriteString(manual.Wrap(flags[i].Explained(), fmt.Sprintf("%-*s", flagColumn, typed), strings.Repeat(" ", flagColumn)))
	}
}
