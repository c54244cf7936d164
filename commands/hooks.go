package commands

import (
	"fmt"
	"strings"

	"git-checkpoint/commands/hook"
	"git-checkpoint/commands/hook/install"
	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/output"

	"github.com/urfave/cli/v2"
)

var hooksCommand = command{
	name: "hooks", usage: "install, look at or take out git's and agents' hooks", args: "install|uninstall|status", max: 1, category: "Setup",
	description: "Installs pre-push and post-checkout: in git's configuration from git 2.54 on, before\n" +
		"that as a marked block in the hook files, beside what is there. uninstall leaves\n" +
		"every file as it was. With --agent it is an agent's settings instead.",
	examples: []string{
		"git checkpoint hooks install --push",
		"git checkpoint hooks install --agent claude",
		"git checkpoint hooks status",
		"git checkpoint hooks uninstall --dry-run",
	},
	flags: hooksFlags,
	run:   runHooks,
}

func hooksFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "push", Usage: "let pre-push also push the checkpoints of the branches pushed"},
		&cli.StringFlag{Name: "agent", Usage: "the hooks of " + agentNames()},
		&cli.BoolFlag{Name: "global", Usage: "for all repositories of this user"},
		&cli.BoolFlag{Name: "manual", Usage: "print what to paste, change nothing"},
		&cli.BoolFlag{Name: "dry-run", Usage: "say what would be done, do nothing"},
		&cli.BoolFlag{Name: "force", Usage: "also replace or take out a block that was edited"},
	}
}

// agentNames lists the agents for a flag's usage. The first name is in backquotes, as the
// placeholder of the value.
func agentNames() string {
	names := hook.Agents()
	last := len(names) - 1
	return "`" + names[0] + "`, " + strings.Join(names[1:last], ", ") + " or " + names[last]
}

func runHooks(c *Invocation) error {
	verb := ""
	if len(c.args) > 0 {
		verb = c.args[0]
	}
	if err := c.checkHooks(verb); err != nil {
		return err
	}
	agent := hook.AgentNamed(c.flags.String("agent"))
	if c.flags.Bool("manual") {
		return c.showManual(agent)
	}
	if err := c.open(); err != nil {
		return err
	}
	if verb == "status" {
		return c.hooksStatus()
	}
	r := c.hooksRepo()
	changes, err := c.planHooks(r, verb == "install", agent)
	if err != nil {
		return err
	}
	return c.changeHooks(r, verb, changes)
}

func (c *Invocation) planHooks(r *install.Repo, in bool, agent *hook.Agent) ([]install.HookChange, error) {
	switch {
	case agent != nil:
		return r.Agent(agent, in)
	case in:
		return r.Install(c.flags.Bool("push"))
	}
	return r.Uninstall()
}

func (c *Invocation) checkHooks(verb string) error {
	agent := c.flags.String("agent")
	switch {
	case verb != "install" && verb != "uninstall" && verb != "status":
		return unknownVerb("hooks", verb, "status", []string{"install", "uninstall", "status"})
	case agent != "" && hook.AgentNamed(agent) == nil:
		return exit.Usagef("hooks: --agent: %q is none of %s", agent, strings.Join(hook.Agents(), ", "))
	case agent != "" && c.flags.Bool("push"):
		return exit.Usagef("hooks: --push and --agent do not go together")
	case verb != "install" && (c.flags.Bool("push") || c.flags.Bool("manual")):
		return exit.Usagef("hooks: --push and --manual are for install")
	}
	return nil
}

// changeHooks applies the planned changes, or only prints them with --dry-run.
func (c *Invocation) changeHooks(r *install.Repo, verb string, changes []install.HookChange) error {
	dry := c.flags.Bool("dry-run")
	result := output.Hooks{Type: "hooks", Action: verb, DryRun: dry}
	if !dry {
		r.RemoveStale()
	}
	for _, ch := range changes {
		if !dry {
			if err := ch.Do(); err != nil {
				c.tellKept(r)
				return fmt.Errorf("hooks %s is not complete: %w", verb, err)
			}
		}
		result.Changes = append(result.Changes, ch.Text)
		c.tellChange(dry, ch.Text)
	}
	result.Kept = c.tellKept(r)
	if len(changes) == 0 {
		c.infof("nothing to do")
	}
	if c.json {
		return c.write(result)
	}
	return nil
}

// tellKept prints and returns the copies of the changed files.
func (c *Invocation) tellKept(r *install.Repo) []output.Kept {
	var kept []output.Kept
	for _, k := range r.Kept {
		kept = append(kept, output.Kept{Path: k.File, Copy: k.Kept})
		c.infof("%s as it was: %s", k.File, k.Kept)
	}
	return kept
}

func (c *Invocation) tellChange(dry bool, text string) {
	if c.json {
		return
	}
	if dry {
		text = "would " + text
	}
	c.print("%s\n", output.Clean(text))
}

// showManual prints the text that a user can paste into a settings file.
func (c *Invocation) showManual(agent *hook.Agent) error {
	text, err := install.Manual(agent, c.flags.Bool("push"))
	if err != nil {
		return err
	}
	if c.json {
		return c.write(output.Hooks{Type: "hooks", Action: "manual", Changes: []string{text}})
	}
	c.print("%s", text)
	return nil
}
