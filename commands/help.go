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
	app := c.flags.App
	text := overview(app)
	if len(c.args) > 0 {
		cmd := app.Command(c.args[0])
		if cmd == nil {
			return unknownCommand(app, c.args[0])
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
func overview(app *cli.App) string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s\n\n%s\n", app.UsageText, app.Usage)
	category := ""
	for _, cmd := range app.Commands {
		if cmd.Category != category {
			category = cmd.Category
			fmt.Fprintf(&b, "\n%s\n", category)
		}
		fmt.Fprintf(&b, "  %-9s %s\n", cmd.Name, cmd.Usage)
	}
	b.WriteString("\ngit checkpoint help COMMAND explains one.\n")
	return b.String()
}

// explain is the help of one command.
func explain(cmd *cli.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: git checkpoint %s\n", strings.TrimSpace(cmd.Name+" [flags] "+cmd.ArgsUsage))
	for _, alias := range cmd.Aliases {
		fmt.Fprintf(&b, "       git checkpoint %s is the same\n", alias)
	}
	fmt.Fprintf(&b, "\n%s\n", cmd.Usage)
	if cmd.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", cmd.Description)
	}
	own := len(cmd.Flags) - len(commonFlags())
	explainFlags(&b, "Flags", cmd.Flags[:own])
	explainFlags(&b, "Flags of every command", cmd.Flags[own:])
	fmt.Fprintf(&b, "\nExamples\n")
	for line := range strings.Lines(cmd.UsageText) {
		fmt.Fprintf(&b, "  %s\n", strings.TrimSuffix(line, "\n"))
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
	if d.TakesValue() {
		value := strings.SplitN(d.GetUsage()+"``", "`", 3)[1]
		name += " " + value
	}
	if s, ok := f.(*cli.StringFlag); ok && s.Value != "" {
		text += " (default " + s.Value + ")"
	}
	return name, text
}
