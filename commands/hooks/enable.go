package hooks

import (
	"cmp"

	"git-checkpoint/commands/internal/invoke"

	"github.com/urfave/cli/v2"
)

// EnableCommand declares git checkpoint enable.
var EnableCommand = invoke.Command{
	Name: "enable", Usage: "set up the agents that are here: hooks, permission and skill", Args: "[AGENT]", Max: 1, Category: "Setup",
	Description: "Finds the agents on PATH and in this project, and installs for each of them the hooks that\n" +
		"save its turns, the permission to run git checkpoint, and the skill. It is `hooks install`\n" +
		"with --agent all --allow --skill, and asks nothing. A second run has nothing to do.\n" +
		"disable removes all of it, and leaves every other byte as it was.",
	Examples: []string{
		"git checkpoint enable --dry-run",
		"git checkpoint enable claude",
		"git checkpoint enable --git-hooks",
	},
	New: invoke.Bind((*hooksOptions).enableFlags, runEnable),
}

// DisableCommand declares git checkpoint disable.
var DisableCommand = invoke.Command{
	Name: "disable", Usage: "remove what enable and hooks install have set up", Max: 0, Category: "Setup",
	Description: "Removes the hooks of all agents and of git, the permissions and the skill. Files that were\n" +
		"created for them are deleted, and others are as they were. Checkpoints stay.",
	Examples: []string{"git checkpoint disable --dry-run"},
	New:      invoke.Bind((*hooksOptions).commonFlags, runDisable),
}

func (o *hooksOptions) enableFlags() []cli.Flag {
	return append(o.commonFlags(),
		&cli.StringFlag{Name: "agent", Usage: "`AGENT` to set up, also if nothing of it is here", Destination: &o.agents},
		&cli.BoolFlag{Name: "git-hooks", Usage: "also the hooks of git: pre-push and post-checkout", Destination: &o.gitHooks},
	)
}

func (o *hooksOptions) commonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "global", Usage: "for all repositories of this user", Destination: &o.global},
		&cli.BoolFlag{Name: "dry-run", Usage: "print the actions without doing them", Destination: &o.dryRun},
	}
}

func runEnable(c *invoke.Invocation, o *hooksOptions) error {
	if err := o.takeAgent(c, append(c.Line.Args, "")[0]); err != nil {
		return err
	}
	o.verb, o.agents, o.skill, o.allow = "install", cmp.Or(o.agents, allAgents), true, true
	return applyHooks(c, o)
}

func runDisable(c *invoke.Invocation, o *hooksOptions) error {
	o.verb = "uninstall"
	return applyHooks(c, o)
}
