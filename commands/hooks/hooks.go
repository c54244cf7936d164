// Package hooks has the commands that install hooks and that hooks call.
package hooks

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/hook/install"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/sessions"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// HooksCommand declares git checkpoint hooks.
var HooksCommand = invoke.Command{
	Name: "hooks", Usage: "install, test or remove the hooks of git and of agents", Args: "install|uninstall|status [AGENT]", Max: 2, Category: "Setup",
	ShortHelp: []string{"agent", "push", "allow", "skill", "global", "dry-run"},
	Description: "Installs pre-push and post-checkout: in git's configuration from git 2.54 on, before\n" +
		"that as a marked block in the hook files, beside existing hooks. uninstall restores\n" +
		"the files. With --agent the hooks go to the settings of an agent instead: a\n" +
		"checkpoint at the end of each turn and of a session, and before a compaction.\n" +
		"--skill writes a skill, which tells agents when and how to save, to .agents/skills\n" +
		"and .claude/skills.",
	Examples: []string{
		"git checkpoint hooks install --push",
		"git checkpoint hooks install --agent claude --skill",
		"git checkpoint hooks status",
		"git checkpoint hooks uninstall --dry-run",
	},
	New: invoke.Bind((*hooksOptions).flags, runHooks),
}

func (o *hooksOptions) flags() []cli.Flag {
	agents := hook.Agents()
	permits := slices.DeleteFunc(slices.Clone(agents), func(name string) bool { return hook.AgentNamed(name).Allow == nil })
	agents[0] = "`" + agents[0] + "`" // the placeholder of the value
	return []cli.Flag{
		&cli.BoolFlag{Name: "push", Usage: "pre-push also pushes the checkpoints of the pushed branches", Destination: &o.push},
		&cli.StringFlag{Name: "agent", Usage: "the hooks of " + view.OneOf(agents) + "; all for those that are here", Destination: &o.agents},
		&cli.BoolFlag{Name: "allow", Usage: "with --agent: permit " + view.OneOf(permits) + " to run git checkpoint", Destination: &o.allow},
		&cli.BoolFlag{Name: "local", Usage: "with --agent: in the settings that are not shared", Destination: &o.local},
		&cli.BoolFlag{Name: "skill", Usage: "the skill for agents, beside the hooks of --agent", Destination: &o.skill},
		&cli.BoolFlag{Name: "global", Usage: "install for all repositories of this user", Destination: &o.global},
		&cli.BoolFlag{Name: "no-turns", Usage: "with --agent: do not save at the end of each turn", Destination: &o.noTurns},
		&cli.BoolFlag{Name: "manual", Usage: "print the lines to paste, but change nothing", Destination: &o.manual},
		&cli.BoolFlag{Name: "dry-run", Usage: "print the actions without doing them", Destination: &o.dryRun},
		&cli.BoolFlag{Name: "force", Usage: "also replace or remove an edited block", Destination: &o.force},
	}
}

// hooksOptions holds the verb and the flags of hooks.
type hooksOptions struct {
	verb   string // install, uninstall or status
	agents string // the flag --agent: a name, all, or "" for git's hooks
	push   bool   // pre-push also pushes checkpoints
	skill  bool   // the skill for agents
	global bool   // for all repositories of the user
	allow  bool   // permit the agent to run this program
	local  bool   // in the agent's settings that are not shared
	manual bool   // print the text to paste, change nothing
	dryRun bool
	force  bool // also change blocks that a user edited

	noTurns  bool // no hook at the end of an agent's turn
	gitHooks bool // also the hooks of git
}

// takeAgent checks the name of the agent, which a word of the command line or --agent names.
func (o *hooksOptions) takeAgent(c *invoke.Invocation, word string) error {
	if word != "" && o.agents != "" && o.agents != word {
		return failure.Usagef("%s: two agents are named, %s and %s", c.Line.Name, word, o.agents)
	}
	o.agents = cmp.Or(o.agents, word)
	if o.agents != "" && o.agents != allAgents && hook.AgentNamed(o.agents) == nil {
		return failure.Usagef("%s: --agent: %q is not one of %s, all", c.Line.Name, o.agents, strings.Join(hook.Agents(), ", "))
	}
	return nil
}

func runHooks(c *invoke.Invocation, o *hooksOptions) error {
	if len(c.Line.Args) > 0 {
		o.verb = c.Line.Args[0]
	}
	if o.verb != "install" && o.verb != "uninstall" && o.verb != "status" {
		return invoke.UnknownVerb("hooks", o.verb, "status", []string{"install", "uninstall", "status"})
	}
	if err := o.takeAgent(c, append(c.Line.Args, "")[1]); err != nil {
		return err
	}
	agent := o.agents
	switch {
	case o.allow && (agent == "" || o.verb != "install" || o.manual):
		return failure.Usagef("hooks: --allow goes with install --agent, and without --manual")
	case o.allow && agent != allAgents && hook.AgentNamed(agent).Allow == nil:
		return failure.Usagef("hooks: --allow: no rule for %s is known", agent)
	case o.local && (agent == "" || o.global):
		return failure.Usagef("hooks: --local goes with --agent, and without --global")
	case agent != "" && o.push:
		return failure.Usagef("hooks: --push and --agent cannot be combined")
	case o.skill && o.push:
		return failure.Usagef("hooks: --push and --skill cannot be combined")
	case o.skill && o.verb == "status":
		return failure.Usagef("hooks: --skill is for install and uninstall")
	case o.verb != "install" && (o.push || o.manual || o.noTurns):
		return failure.Usagef("hooks: --push, --manual and --no-turns are for install")
	case o.noTurns && agent == "":
		return failure.Usagef("hooks: --no-turns goes with --agent")
	}
	if o.manual {
		return showManual(c, o)
	}
	return applyHooks(c, o)
}

func applyHooks(c *invoke.Invocation, o *hooksOptions) error {
	c.Needs.NoRepository = o.global
	if err := c.Open(); err != nil {
		return err
	}
	r := install.Open(c)
	r.Global, r.Local, r.Allow, r.Force, r.NoTurns = o.global, o.local, o.allow, o.force, o.noTurns
	if o.verb == "status" {
		return hooksStatus(c, r, o.agents)
	}
	agents, err := chosenAgents(c, r, o)
	if err != nil && (!o.gitHooks || !errors.Is(err, errNoAgent)) {
		return err
	}
	var changes []install.HookChange
	if len(agents) > 0 || o.skill && !o.gitHooks {
		if changes, err = r.Plan(nil, agents, o.skill, o.verb == "install"); err != nil {
			return err
		}
	}
	if c.Line.Name == "enable" && len(agents) > 0 {
		var names []string
		for _, a := range agents {
			names = append(names, a.Name)
		}
		c.Infof("agents: %s", view.List(names))
	}
	var more []install.HookChange
	switch ofGit := o.gitHooks || o.agents == "" && !o.skill; {
	case ofGit && o.verb == "install":
		more, err = r.Install(o.push)
	case ofGit:
		more, err = r.Uninstall()
	}
	if err != nil {
		return err
	}
	if err = changeHooks(c, r, o, append(changes, more...)); err == nil && c.Line.Name == "enable" && !o.dryRun {
		c.Infof("to take it back: %s", r.Scoped("git checkpoint disable"))
	}
	return err
}

// allAgents is the value of --agent for all agents that are here.
const allAgents = "all"

var errNoAgent = errors.New("none of " + strings.Join(hook.Agents(), ", ") + " is on PATH or has a directory here")

// chosenAgents returns the agents of --agent: with all, those that this user or project
// uses, and for a removal those with hooks.
func chosenAgents(c *invoke.Invocation, r *install.Repo, o *hooksOptions) (agents []*hook.Agent, err error) {
	switch a := hook.AgentNamed(o.agents); {
	case o.agents == "":
		return nil, nil
	case a != nil:
		return []*hook.Agent{a}, nil
	case o.verb == "install":
		agents, err = r.AgentsHere()
		if err == nil && len(agents) == 0 {
			command := "git checkpoint hooks install --agent claude"
			if c.Line.Name == "enable" {
				command = "git checkpoint enable --agent claude"
			}
			err = failure.Errorf(failure.Usage, r.Scoped(command), "%w: name yours with --agent; the hooks of git need none", errNoAgent)
		}
		return agents, err
	}
	found, err := r.Agents()
	for _, f := range found {
		if a := hook.AgentNamed(f.Agent); len(f.Events) > 0 && !slices.Contains(agents, a) && (!o.local || a.Local != "") {
			agents = append(agents, a)
		}
	}
	return agents, err
}

// changeHooks applies the planned changes, or only prints them with --dry-run.
func changeHooks(c *invoke.Invocation, r *install.Repo, o *hooksOptions, changes []install.HookChange) error {
	result := view.Hooks{Type: "hooks", Action: o.verb, DryRun: o.dryRun}
	for _, ch := range changes {
		if !o.dryRun {
			if err := ch.Do(); err != nil {
				tellKept(c, r)
				return fmt.Errorf("hooks %s is not complete: %w", o.verb, err)
			}
		}
		result.Changes = append(result.Changes, ch.Text)
		text := ch.Text
		if o.dryRun {
			text = "would " + text
		}
		if !c.Line.JSON {
			c.Printf("%s\n", view.Clean(text))
		}
	}
	tellKept(c, r)
	result.Kept = r.Kept
	runs := o.agents == "" || o.verb != "install" || o.dryRun
	if !runs {
		agents, _ := r.Agents()
		for _, a := range agents {
			if runs = runs || a.Off == ""; a.Off != "" {
				c.Warnf("%s runs no hook of %s: %s", a.Agent, a.Path, a.Off)
			}
		}
	}
	switch {
	case len(changes) == 0:
		c.Infof("nothing to do")
	case o.verb == "install" && !o.dryRun:
		tellEffect(c, r, o, runs)
	case !o.dryRun && r.AgentHooks:
		c.Infof("an agent that is running keeps its hooks until it ends")
	}
	if c.Line.JSON {
		return c.WriteJSON(result)
	}
	return nil
}

// tellEffect prints in two lines what the installed hooks do from now on, unless the
// agent runs none of them.
func tellEffect(c *invoke.Invocation, r *install.Repo, o *hooksOptions, runs bool) {
	list, saves := "git checkpoint list --turns", "after each turn"
	if o.noTurns {
		list, saves = "git checkpoint list", "before a compaction and at the end of a session"
	}
	switch {
	case !runs:
	case o.agents != "":
		c.Infof("from now on, a checkpoint is saved %s, and the next session starts with it", saves)
		c.Infof("after the next session: %s", list)
	case o.skill:
	default:
		c.Infof("from now on, git switch names the checkpoint of the branch that can be resumed")
		if o.push || c.Settings.String("hooks.pre_push") != "off" {
			c.Infof("git push also pushes the checkpoints of the pushed branches")
		} else {
			c.Infof("git push pushes no checkpoints: to change that, %s", r.Scoped("git checkpoint hooks install --push"))
		}
	}
}

// tellKept prints the copies of the changed files.
func tellKept(c *invoke.Invocation, r *install.Repo) {
	for _, k := range r.Kept {
		c.Infof("%s as it was: %s", k.Path, k.Copy)
	}
}

// showManual prints the text that a user can paste into a settings file.
func showManual(c *invoke.Invocation, o *hooksOptions) error {
	if o.agents == allAgents {
		return failure.Usagef("hooks: --manual needs the name of an agent")
	}
	agent := hook.AgentNamed(o.agents)
	var text string
	if agent != nil || !o.skill {
		var err error
		if text, err = install.Manual(agent, o.push, !o.noTurns); err != nil {
			return err
		}
	}
	if o.skill {
		text += "# " + strings.Join(hook.SkillFiles(), " and ") + ":\n" + hook.Skill()
	}
	if c.Line.JSON {
		return c.WriteJSON(view.Hooks{Type: "hooks", Action: "manual", Changes: []string{text}})
	}
	c.Printf("%s", text)
	return nil
}

// hooksStatus prints the installed hooks and whether git runs them, or those of a single agent.
func hooksStatus(c *invoke.Invocation, r *install.Repo, agent string) error {
	result := view.Hooks{Type: "hooks", Action: "status"}
	var err error
	if result.Agents, err = r.EveryAgent(); err != nil {
		return err
	}
	if hook.AgentNamed(agent) != nil {
		result.Agents = slices.DeleteFunc(result.Agents, func(a view.Agent) bool { return a.Agent != agent })
		if len(result.Agents) == 0 {
			c.Infof("no hook of %s is installed", agent)
		}
	} else if result.Hooks, err = r.Status(); err == nil {
		result.Skills, err = r.Skills()
	}
	if err != nil {
		return err
	}
	for i := range result.Agents {
		addRuns(c, &result.Agents[i])
	}
	if c.Line.JSON {
		return c.WriteJSON(result)
	}
	for _, h := range result.Hooks {
		c.Printf("%s\n", view.Clean(hookLine(h)))
	}
	for _, a := range result.Agents {
		c.Printf("%s: %s in %s\n  %s\n", a.Agent, cmp.Or(view.List(a.Events), "no hook"), view.Clean(a.Path), view.Clean(runsText(a, c.Env.Now())))
	}
	if len(result.Skills) > 0 {
		c.Printf("skill: %s\n", view.Clean(view.List(result.Skills)))
	}
	return nil
}

// addRuns adds the last run of each event of an agent.
func addRuns(c *invoke.Invocation, a *view.Agent) {
	agent, ran := hook.AgentNamed(a.Agent), false
	for _, event := range a.Events {
		name := "*" // a plugin has one event for all hooks
		for _, e := range agent.Events {
			if e.Name == event {
				name = e.Hook
			}
		}
		at := sessions.LastRan(c.Store.Notes, agent.Name, name)
		a.Runs = append(a.Runs, view.AgentRun{Event: event, LastRan: at})
		ran = ran || !at.IsZero()
	}
	if !ran {
		a.Why = agent.NeverRan()
	}
}

// runsText describes the last run of each event, or where to look if no hook ever ran.
func runsText(a view.Agent, now time.Time) string {
	switch {
	case a.Off != "":
		return a.Agent + " runs no hook of this file: " + a.Off
	case a.Why != "":
		return "never ran in this clone: " + a.Why
	}
	var ran, never []string
	for _, r := range a.Runs {
		if r.LastRan.IsZero() {
			never = append(never, r.Event)
		} else {
			ran = append(ran, r.Event+" "+view.Ago(r.LastRan, now))
		}
	}
	text := "last ran: " + view.List(ran)
	if len(never) > 0 {
		text += "; never: " + view.List(never)
	}
	return text
}

func hookLine(h view.Hook) string {
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
