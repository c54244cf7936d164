package commands

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/manual"
	"git-checkpoint/commands/internal/view"

	"github.com/urfave/cli/v2"
)

// overview returns the list of the everyday commands by category.
func overview(commands []*invoke.Command) string {
	everyday := slices.DeleteFunc(slices.Clone(commands), func(c *invoke.Command) bool { return !c.Everyday })
	return introduction + commandList(everyday) + `
git checkpoint help COMMAND        explain a command
git checkpoint help --all          list all commands and guides
git checkpoint help agents         save at every turn of a coding agent
git checkpoint help crash          continue after a crash
`
}

// fullOverview returns the list of all commands by category, and of all guides.
func fullOverview(commands []*invoke.Command) string {
	shown := slices.DeleteFunc(slices.Clone(commands), func(c *invoke.Command) bool { return c.Hidden })
	var b strings.Builder
	b.WriteString(introduction + commandList(shown) + "\nGuides\n")
	for _, g := range append([]manual.Guide{{Name: progName, Usage: "forms of ISSUE and ID, exit codes, environment, files"}}, manual.Topics()...) {
		fmt.Fprintf(&b, "  %-14s %s\n", g.Name, g.Usage)
	}
	b.WriteString("\ngit checkpoint help NAME prints the help of a command, or a guide.\n")
	return b.String()
}

const introduction = "usage: git checkpoint <command> [arguments]\n\n" +
	toolUsage + "\n\n" +
	"  git checkpoint save 42 -m 'half way'   record the state of the work on issue 42\n" +
	"  git checkpoint status                  show the progress, and the verdict of resume\n" +
	"  git checkpoint resume                  continue there, after a crash or in another clone\n"

// commandList returns a line for each command, below the titles of the categories.
func commandList(commands []*invoke.Command) string {
	var b strings.Builder
	category := ""
	for _, cmd := range commands {
		if cmd.Category != category {
			category = cmd.Category
			fmt.Fprintf(&b, "\n%s\n", category)
		}
		fmt.Fprintf(&b, "  %-10s %s\n", cmd.Name, cmd.Usage)
	}
	return b.String()
}

// explain returns the help text of one command, with all flags or with those of its short
// help.
func explain(cmd *invoke.Command, all bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: git checkpoint %s\n", strings.TrimSpace(cmd.Name+" [flags] "+cmd.Args))
	if cmd.Alias != "" {
		fmt.Fprintf(&b, "       git checkpoint %s is the same\n", cmd.Alias)
	}
	fmt.Fprintf(&b, "\n%s\n", cmd.Usage)
	if cmd.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", cmd.Description)
	}
	flags, examples := cmd.OwnFlags(), cmd.Examples
	if all {
		explainFlags(&b, "Flags", flags)
		explainFlags(&b, "Flags of every command", invoke.CommonFlags())
	} else {
		short := shortFlags(cmd)
		explainFlags(&b, "Flags", short)
		more := "also lists the flags of every command."
		if left := len(flags) - len(short); left > 0 {
			more = fmt.Sprintf("lists %s, and the flags of every command.", view.Plural(left, "more flag"))
		}
		fmt.Fprintf(&b, "\ngit checkpoint %s --help-all %s\n", cmd.Name, more)
		examples = shortExamples(cmd, short)
	}
	fmt.Fprintf(&b, "\nExamples\n")
	for _, line := range examples {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return b.String()
}

// shortFlags returns the flags that the short help of the command lists.
func shortFlags(cmd *invoke.Command) []cli.Flag {
	flags := cmd.OwnFlags()
	if cmd.ShortHelp == nil {
		return flags
	}
	short := make([]cli.Flag, len(cmd.ShortHelp))
	for i, name := range cmd.ShortHelp {
		short[i] = flagNamed(flags, name)
	}
	return short
}

// shortExamples returns the examples that use only the given flags. If every example uses
// another flag, it returns all examples.
func shortExamples(cmd *invoke.Command, flags []cli.Flag) []string {
	other := func(word string) bool {
		f, _ := findFlag(flags, word)
		return isFlag(word) && f == nil
	}
	var list []string
	for _, example := range cmd.Examples {
		line, _, _ := strings.Cut(example, " -- ")
		if !slices.ContainsFunc(strings.Fields(line), other) {
			list = append(list, example)
		}
	}
	if list == nil {
		return cmd.Examples
	}
	return list
}

// flagColumn is the column of the flag descriptions.
const flagColumn = 25

func explainFlags(b *strings.Builder, title string, flags []cli.Flag) {
	if len(flags) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, f := range view.Each(flags, declaredFlag) {
		typed := "  " + f.Typed()
		if len(typed) >= flagColumn {
			fmt.Fprintln(b, typed)
			typed = ""
		}
		b.WriteString(manual.Wrap(f.Explained(), fmt.Sprintf("%-*s", flagColumn, typed), strings.Repeat(" ", flagColumn)))
	}
}
