package hooks

import (
	"cmp"
	"errors"

	"git-checkpoint/commands/internal/hook/install"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore/failure"

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
	New: invoke.Bind((*enableOptions).flags, runEnable),
}

// DisableCommand declares git checkpoint disable.
var DisableCommand = invoke.Command{
	Name: "disable", Usage: "remove what enable and hooks install have set up", Max: 0, Category: "Setup",
	Description: "Removes the hooks of all agents and of git, the permissions and the skill. Files that were\n" +
		"created for them are deleted, and others are as they were. Checkpoints stay.",
	Examples: []string{"git checkpoint disable --dry-run"},
	New:      invoke.Bind((*enableOptions).commonFlags, runDisable),
}

// enableOptions are the flags of enable and disable.
type enableOptions struct {
	global, dryRun, gitHooks bool
	agent                    string
}

func (o *enableOptions) flags() []cli.Flag {
	return append(o.commonFlags(),
		&cli.StringFlag{Name: "agent", Usage: "`AGENT` to set up, also if nothing of it is here", Destination: &o.agent},
		&cli.BoolFlag{Name: "git-hooks", Usage: "also the hooks of git: pre-push and post-checkout", Destination: &o.gitHooks},
	)
}

func (o *enableOptions) commonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "global", Usage: "for all repositories of this user", Destination: &o.global},
		&cli.BoolFlag{Name: "dry-run", Usage: "print the actions without doing them", Destination: &o.dryRun},
	}
}

func runEnable(c *invoke.Invocation, o *enableOptions) error {
	named := append(c.Line.Args, allAgents)[0]
	if len(c.Line.Args) > 0 && o.agent != "" && o.agent != named {
		return failure.Usagef("enable: two agents are named, %s and %s", named, o.agent)
	}
	h := &hooksOptions{verb: "install", agents: cmp.Or(o.agent, named), skill: true, allow: true, global: o.global, dryRun: o.dryRun}
	r, err := openHooks(c, h)
	if err != nil {
		return err
	}
	agents, err := chosenAgents(r, h)
	switch {
	case o.gitHooks && errors.Is(err, errNoAgent):
	case errors.Is(err, errNoAgent):
		hint := "git checkpoint enable --agent claude"
		if o.global {
			hint += " --global"
		}
		return failure.Errorf(failure.Usage, hint, "enable: %w: name yours with --agent, or with --git-hooks take the hooks of git, which need none", err)
	case err != nil:
		return err
	}
	var changes []install.HookChange
	if len(agents) > 0 {
		if changes, err = planAgents(r, h); err != nil {
			return err
		}
		var names []string
		for _, a := range agents {
			names = append(names, a.Name)
		}
		c.Infof("agents: %s", view.List(names))
	}
	if o.gitHooks {
		more, err := r.Install(false)
		if err != nil {
			return err
		}
		changes = append(changes, more...)
	}
	if err := changeHooks(c, r, h, changes); err != nil || o.dryRun {
		return err
	}
	undo := "git checkpoint disable"
	if o.global {
		undo += " --global"
	}
	c.Infof("to take it back: %s", undo)
	return nil
}

func runDisable(c *invoke.Invocation, o *enableOptions) error {
	return applyHooks(c, &hooksOptions{verb: "uninstall", global: o.global, dryRun: o.dryRun})
}

// openHooks opens the repository, and returns its hooks with options.
func openHooks(c *invoke.Invocation, o *hooksOptions) (*install.Repo, error) {
	c.Needs.NoRepository = o.global
	if err := c.Open(); err != nil {
		return nil, err
	}
	r := install.Open(c)
	r.Global, r.Local, r.Allow, r.Force, r.NoTurns = o.global, o.local, o.allow, o.force, o.noTurns
	return r, nil
}
