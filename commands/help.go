package commands

import (
	"fmt"
	"strings"

	"git-checkpoint/commands/output"

	"github.com/urfave/cli/v2"
)

var helpCommand = command{
	name: "help", usage: "explain a command", args: "[COMMAND]", max: 1, category: "Help",
	examples: []string{"git checkpoint help save"},
	run:      runHelp,
}

func runHelp(c *call) error {
	text := overview(c.commands)
	if len(c.args) > 0 {
		cmd := commandNamed(c.commands, c.args[0])
		if cmd == nil {
			return unknownCommand(c.commands, c.args[0])
		}
		text = explain(cmd)
	}
	if c.json {
		return c.write(output.Help{Type: "help", Text: text})
	}
	c.print("%s", text)
	return nil
}

// overview lists the commands by what they are for.
func overview(commands []*command) string {
	var b strings.Builder
	b.WriteString("usage: git checkpoint <command> [arguments]\n\n" +
		"record where long work on an issue stands, and resume it\n")
	category := ""
	for _, cmd := range commands {
		if cmd.category != category {
			category = cmd.category
			fmt.Fprintf(&b, "\n%s\n", category)
		}
		fmt.Fprintf(&b, "  %-9s %s\n", cmd.name, cmd.usage)
	}
	b.WriteString("\ngit checkpoint help COMMAND explains one.\n")
	return b.String()
}

// explain is the help of one command.
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
	explainFlags(&b, "Flags", cmd.ownFlags())
	explainFlags(&b, "Flags of every command", commonFlags())
	fmt.Fprintf(&b, "\nExamples\n")
	for _, line := range cmd.examples {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return b.String()
}

func explainFlags(b *strings.Builder, title string, flags []cli.Flag) {
	if len(flags) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, f := range flags {
		name, text := describeFlag(f)
		fmt.Fprintf(b, "  %-22s %s\n", name, text)
	}
}

// describeFlag returns a flag as it is typed, with the word in backquotes for
// its value, and what it does.
func describeFlag(f cli.Flag) (name, text string) {
	d := f.(cli.DocGenerationFlag)
	var forms []string
	for _, n := range f.Names() {
		dashes := "--"
		if len(n) == 1 {
			dashes = "-"
		}
		forms = append([]string{dashes + n}, forms...)
	}
	name, text = strings.Join(forms, ", "), strings.ReplaceAll(d.GetUsage(), "`", "")
	value := strings.SplitN(d.GetUsage()+"``", "`", 3)[1]
	if _, optional := f.(optionalFlag); optional {
		name += "[=" + value + "]"
	} else if d.TakesValue() {
		name += " " + value
	}
	if s, ok := f.(*cli.StringFlag); ok && s.Value != "" {
		text += " (default " + s.Value + ")"
	}
	return name, text
}
