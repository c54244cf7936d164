package commands

import "github.com/urfave/cli/v2"

var helpCommand = command{
	name: "help", usage: "explain a command", args: "[COMMAND]", max: 1, category: "Help",
	run: runHelp,
}

func runHelp(c *call) error {
	if len(c.args) == 0 {
		return cli.ShowAppHelp(c.flags)
	}
	if c.flags.App.Command(c.args[0]) == nil {
		return unknownCommand(c.flags.App, c.args[0])
	}
	lineage := c.flags.Lineage()
	return cli.ShowCommandHelp(lineage[1], c.args[0])
}
