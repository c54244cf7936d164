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
	"git-checkpoint/commands/internal/phrase"

	"github.com/urfave/cli/v2"
)

// HooksCommand declares git checkpoint hooks.
var HooksCommand = invoke.Command{
	Name: "hooks", Usage: "install, look at or take out git's and agents' hooks", Args: "install|uninstall|status", Max: 1, Category: "Setup",
	Description: "Installs pre-push and post-checkout: in git's configuration from git 2.54 on, before\n" +
		"that as a marked block in the hook files, beside what is there. uninstall leaves\n" +
		"every file as it was. With --agent it is an agent's settings instead: a\n" +
		"checkpoint at the end of each turn and of a session, and before a compaction.\n" +
		"--skill writes a skill, which tells agents when and how to save, to .agents/skills\n" +
		"and .claude/skills.",
	Examples: []string{
		"git checkpoint hooks install --push",
		"git checkpoint hooks install --agent claude --skill",
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
		&cli.BoolFlag{Name: "skill", Usage: "the skill for agents, beside the hooks of --agent"},
		&cli.BoolFlag{Name: "global", Usage: "for all repositories of this user"},
		&cli.BoolFlag{Name: "no-turns", Usage: "with --agent: do not save at the end of each turn"},
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

// hooksOptions holds the verb and the flags of hooks.
type hooksOptions struct {
	verb   string      // install, uninstall or status
	agent  *hook.Agent // nil for git's hooks
	push   bool        // pre-push also pushes checkpoints
	skill  bool        // the skill for agents
	global bool        // for all repositories of the user
	manual bool        // print the text to paste, change nothing
	dryRun bool
	force  bool // also change blocks that a user edited

	noTurns bool // no hook at the end of an agent's turn
}

func readHooksOptions(c *invoke.Invocation) (hooksOptions, error) {
	agent := c.Flags.String("agent")
	o := hooksOptions{
		agent: hook.AgentNamed(agent), push: c.Flags.Bool("push"), skill: c.Flags.Bool("skill"), global: c.Flags.Bool("global"),
		manual: c.Flags.Bool("manual"), dryRun: c.Flags.Bool("dry-run"), force: c.Flags.Bool("force"),
		noTurns: c.Flags.Bool("no-turns"),
	}
	if len(c.Args) > 0 {
		o.verb = c.Args[0]
	}
	switch {
	case o.verb != "install" && o.verb != "uninstall" && o.verb != "status":
		return o, invoke.UnknownVerb("hooks", o.verb, "status", []string{"install", "uninstall", "status"})
	case agent != "" && o.agent == nil:
		return o, exit.Usagef("hooks: --agent: %q is none of %s", agent, strings.Join(hook.Agents(), ", "))
	case agent != "" && o.push:
		return o, exit.Usagef("hooks: --push and --agent do not go together")
	case o.skill && o.push:
		return o, exit.Usagef("hooks: --push and --skill do not go together")
	case o.skill && o.verb == "status":
		return o, exit.Usagef("hooks: --skill is for install and uninstall")
	case o.verb != "install" && (o.push || o.manual || o.noTurns):
		return o, exit.Usagef("hooks: --push, --manual and --no-turns are for install")
	case o.noTurns && agent == "":
		return o, exit.Usagef("hooks: --no-turns goes with --agent")
	}
	return o, nil
}

func runHooks(c *invoke.Invocation) error {
	o, err := readHooksOptions(c)
	if err != nil {
		return err
	}
	if o.manual {
		return showManual(c, o)
	}
	if err := c.Open(); err != nil {
		return err
	}
	r := githooks.Repo(c)
	r.Global, r.Force, r.NoTurns = o.global, o.force, o.noTurns
	if o.verb == "status" {
		return hooksStatus(c, r)
	}
	changes, err := planHooks(r, o)
	if err != nil {
		return err
	}
	return changeHooks(c, r, o, changes)
}

func planHooks(r *install.Repo, o hooksOptions) ([]install.HookChange, error) {
	switch in := o.verb == "install"; {
	case o.agent != nil || o.skill:
		return planAgent(r, o)
	case in:
		return r.Install(o.push)
	}
	return r.Uninstall()
}

// planAgent plans the hooks of an agent, the skill, or both.
func planAgent(r *install.Repo, o hooksOptions) (plan []install.HookChange, err error) {
	if o.agent != nil {
		if plan, err = r.Agent(o.agent, o.verb == "install"); err != nil || !o.skill {
			return plan, err
		}
	}
	skill := r.UninstallSkill
	if o.verb == "install" {
		skill = r.InstallSkill
	}
	more, err := skill()
	return append(plan, more...), err
}

// changeHooks applies the planned changes, or only prints them with --dry-run.
func changeHooks(c *invoke.Invocation, r *install.Repo, o hooksOptions, changes []install.HookChange) error {
	result := output.Hooks{Type: "hooks", Action: o.verb, DryRun: o.dryRun}
	if !o.dryRun {
		r.RemoveStale()
	}
	for _, ch := range changes {
		if !o.dryRun {
			if err := ch.Do(); err != nil {
				tellKept(c, r)
				return fmt.Errorf("hooks %s is not complete: %w", o.verb, err)
			}
		}
		result.Changes = append(result.Changes, ch.Text)
		tellChange(c, o.dryRun, ch.Text)
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
func showManual(c *invoke.Invocation, o hooksOptions) error {
	var text string
	if o.agent != nil || !o.skill {
		var err error
		agent := o.agent
		if o.noTurns {
			agent = agent.WithoutTurns()
		}
		if text, err = install.Manual(agent, o.push); err != nil {
			return err
		}
	}
	if o.skill {
		text += "# " + strings.Join(hook.SkillFiles(), " and ") + ":\n" + hook.Skill()
	}
	if c.JSON {
		return c.WriteJSON(output.Hooks{Type: "hooks", Action: "manual", Changes: []string{text}})
	}
	c.Printf("%s", text)
	return nil
}

// hooksStatus prints the installed hooks and whether git runs them.
func hooksStatus(c *invoke.Invocation, r *install.Repo) error {
	result := output.Hooks{Type: "hooks", Action: "status"}
	var err error
	if result.Hooks, err = githooks.Find(c, r); err != nil {
		return err
	}
	agents, err := r.Agents()
	if err != nil {
		return err
	}
	for _, a := range agents {
		result.Agents = append(result.Agents, output.Agent{Agent: a.Agent, Path: a.Path, Events: a.Events})
	}
	if result.Skills, err = r.Skills(); err != nil {
		return err
	}
	if c.JSON {
		return c.WriteJSON(result)
	}
	for _, h := range result.Hooks {
		c.Printf("%s\n", output.Clean(hookLine(h)))
	}
	for _, a := range agents {
		c.Printf("%s: %s in %s\n", a.Agent, phrase.List(a.Events), output.Clean(a.Path))
	}
	if len(result.Skills) > 0 {
		c.Printf("skill: %s\n", output.Clean(phrase.List(result.Skills)))
	}
	return nil
}

// hookLine describes a hook in one line.
func hookLine(h output.Hook) string {
	if h.Way == "" {
		return h.Event + ": not installed"
	}
	line := fmt.Sprintf("%s: runs, from %s (hooks.%s: %s)", h.Event, h.Place, strings.ReplaceAll(h.Event, "-", "_"), h.Setting)
	if !h.Runs {
		line = fmt.Sprintf("%s: in %s, and does not run: %s", h.Event, h.Place, h.Why)
	}
	if h.Manager != "" {
		line += ", beside " + h.Manager
	}
	return line
}
