// Package hooks has the commands that install hooks and that hooks call.
package hooks

import (
	"fmt"
	"strings"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/githooks"
	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/hook/install"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"

	"github.com/urfave/cli/v2"
)

// HooksCommand declares git checkpoint hooks.
var HooksCommand = invoke.Command{
	Name: "hooks", Usage: "install, look at or take out git's and agents' hooks", Args: "install|uninstall|status", Max: 1, Category: "Setup",
	Description: "Installs pre-push and post-checkout: in git's configuration from git 2.54 on, before\n" +
		"that as a marked block in the hook files, beside what is there. uninstall leaves\n" +
		"every file as it was. With --agent it is an agent's settings instead.",
	Examples: []string{
		"git checkpoint hooks install --push",
		"git checkpoint hooks install --agent claude",
		"git checkpoint hooks status",
		"git checkpoint hooks uninstall --dry-run",
	},
	Flags: hooksFlags,
	Run:   runHooks,
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

func runHooks(c *invoke.Invocation) error {
	verb := ""
	if len(c.Args) > 0 {
		verb = c.Args[0]
	}
	if err := checkHooks(c, verb); err != nil {
		return err
	}
	agent := hook.AgentNamed(c.Flags.String("agent"))
	if c.Flags.Bool("manual") {
		return showManual(c, agent)
	}
	if err := c.Open(); err != nil {
		return err
	}
	if verb == "status" {
		return hooksStatus(c)
	}
	r := githooks.Repo(c)
	changes, err := planHooks(c, r, verb == "install", agent)
	if err != nil {
		return err
	}
	return changeHooks(c, r, verb, changes)
}

func planHooks(c *invoke.Invocation, r *install.Repo, in bool, agent *hook.Agent) ([]install.HookChange, error) {
	switch {
	case agent != nil:
		return r.Agent(agent, in)
	case in:
		return r.Install(c.Flags.Bool("push"))
	}
	return r.Uninstall()
}

func checkHooks(c *invoke.Invocation, verb string) error {
	agent := c.Flags.String("agent")
	switch {
	case verb != "install" && verb != "uninstall" && verb != "status":
		return invoke.UnknownVerb("hooks", verb, "status", []string{"install", "uninstall", "status"})
	case agent != "" && hook.AgentNamed(agent) == nil:
		return exit.Usagef("hooks: --agent: %q is none of %s", agent, strings.Join(hook.Agents(), ", "))
	case agent != "" && c.Flags.Bool("push"):
		return exit.Usagef("hooks: --push and --agent do not go together")
	case verb != "install" && (c.Flags.Bool("push") || c.Flags.Bool("manual")):
		return exit.Usagef("hooks: --push and --manual are for install")
	}
	return nil
}

// changeHooks applies the planned changes, or only prints them with --dry-run.
func changeHooks(c *invoke.Invocation, r *install.Repo, verb string, changes []install.HookChange) error {
	dry := c.Flags.Bool("dry-run")
	result := output.Hooks{Type: "hooks", Action: verb, DryRun: dry}
	if !dry {
		r.RemoveStale()
	}
	for _, ch := range changes {
		if !dry {
			if err := ch.Do(); err != nil {
				tellKept(c, r)
				return fmt.Errorf("hooks %s is not complete: %w", verb, err)
			}
		}
		result.Changes = append(result.Changes, ch.Text)
		tellChange(c, dry, ch.Text)
	}
	result.Kept = tellKept(c, r)
	if len(changes) == 0 {
		c.Infof("nothing to do")
	}
	if c.JSON {
		return c.WriteJSON(result)
	}
	return nil
}

// tellKept prints and returns the copies of the changed files.
func tellKept(c *invoke.Invocation, r *install.Repo) []output.Kept {
	var kept []output.Kept
	for _, k := range r.Kept {
		kept = append(kept, output.Kept{Path: k.File, Copy: k.Kept})
		c.Infof("%s as it was: %s", k.File, k.Kept)
	}
	return kept
}

func tellChange(c *invoke.Invocation, dry bool, text string) {
	if c.JSON {
		return
	}
	if dry {
		text = "would " + text
	}
	c.Printf("%s\n", output.Clean(text))
}

// showManual prints the text that a user can paste into a settings file.
func showManual(c *invoke.Invocation, agent *hook.Agent) error {
	text, err := install.Manual(agent, c.Flags.Bool("push"))
	if err != nil {
		return err
	}
	if c.JSON {
		return c.WriteJSON(output.Hooks{Type: "hooks", Action: "manual", Changes: []string{text}})
	}
	c.Printf("%s", text)
	return nil
}
