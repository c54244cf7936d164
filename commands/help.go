package commands

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/manual"
	"git-checkpoint/commands/output"

	"github.com/urfave/cli/v2"
)

// toolUsage describes the program in one line.
const toolUsage = "record where long work on an issue stands, and resume it"

var helpCommand = command{
	name: "help", usage: "explain a command, or print a guide", args: "[COMMAND|GUIDE]", max: 1, category: "Help",
	description: "With --man, writes the man pages, by default to the place beside this program's\n" +
		"directory where man finds them: ../share/man.",
	examples: []string{"git checkpoint help save", "git checkpoint help recipes", "git checkpoint help --man=build/man"},
	flags:    helpFlags,
	run:      runHelp,
}

func helpFlags() []cli.Flag {
	return []cli.Flag{
		optionalFlag{&cli.StringFlag{Name: "man", Usage: "write the man pages below `DIR`"}},
	}
}

func runHelp(c *Invocation) error {
	text, err := c.helpText()
	if err != nil {
		return err
	}
	if c.json {
		return c.write(output.Help{Type: "help", Text: text})
	}
	c.print("%s", text)
	return nil
}

// helpText returns the text that the arguments select.
func (c *Invocation) helpText() (string, error) {
	switch {
	case c.flags.IsSet("man"):
		return c.writeMan()
	case len(c.args) == 0:
		return overview(c.commands), nil
	}
	if cmd := commandNamed(c.commands, c.args[0]); cmd != nil {
		return explain(cmd), nil
	}
	name := progName + "-" + c.args[0]
	pages := manual.Pages(declared(c.commands))
	if i := slices.IndexFunc(pages, func(p manual.Page) bool { return p.Name == name }); i >= 0 {
		return pages[i].Text(), nil
	}
	var guides []string
	for _, g := range manual.Topics() {
		guides = append(guides, g.Name)
	}
	meant := cmp.Or(meantCommand(c.commands, c.args[0]), nearest(c.args[0], guides))
	hint := strings.TrimSuffix("git checkpoint help "+meant, " ")
	return "", exit.Errorf(exit.Usage, hint, "%q is neither a command nor a guide", c.args[0])
}

// overview returns the list of commands by category.
func overview(commands []*command) string {
	var b strings.Builder
	b.WriteString("usage: git checkpoint <command> [arguments]\n\n" +
		toolUsage + "\n\n" +
		"  git checkpoint save 42 -m 'half way'   record where work on issue 42 stands\n" +
		"  git checkpoint status                  how far it is, and what resume would do\n" +
		"  git checkpoint resume                  go on from there, after a crash or elsewhere\n")
	category := ""
	for _, cmd := range commands {
		if cmd.category != category {
			category = cmd.category
			fmt.Fprintf(&b, "\n%s\n", category)
		}
		fmt.Fprintf(&b, "  %-10s %s\n", cmd.name, cmd.usage)
	}
	b.WriteString("\nGuides\n")
	for _, g := range manual.Topics() {
		fmt.Fprintf(&b, "  %-10s %s\n", g.Name, g.Usage)
	}
	b.WriteString("\ngit checkpoint help COMMAND or GUIDE explains one.\n")
	return b.String()
}

// explain returns the help text of one command.
func explain(cmd *command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: git checkpoint %s\n", strings.TrimSpace(cmd.name+" [flags] "+cmd.args))
	if cmd.alias != "" {
		fmt.Fprintf(&b, "       git checkpoint %s is the same\n", cmd.alias)
	}
	fmt.Fprintf(&b, "\n%s\n", cmd.usage)
	if cmd.description != "" {
		fmt.Fprintf(&b, "\n%s\n", cmd.description)
	}
	explainFlags(&b, "Flags", declaredFlags(cmd.ownFlags()))
	explainFlags(&b, "Flags of every command", declaredFlags(commonFlags()))
	fmt.Fprintf(&b, "\nExamples\n")
	for _, line := range cmd.examples {
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
