// Package hooks has the commands that install hooks and that hooks call.
package hooks

import (
	"cmp"
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
	agents[0] = "`" + agents[0] + "`" // the placeholder of the value
	return []cli.Flag{
		&cli.BoolFlag{Name: "push", Usage: "pre-push also pushes the checkpoints of the pushed branches", Destination: &o.push},
		&cli.StringFlag{Name: "agent", Usage: "the hooks of " + view.OneOf(agents) + "; all for those that are here", Destination: &o.agents},
		&cli.BoolFlag{Name: "allow", Usage: "with --agent: permit " + view.OneOf(hook.Permits()) + " to run git checkpoint", Destination: &o.allow},
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

	noTurns bool // no hook at the end of an agent's turn
}

// check sets the verb. It returns an error for invalid values, and for flags that do not go
// together.
func (o *hooksOptions) check(c *invoke.Invocation) error {
	if len(c.Line.Args) > 0 {
		o.verb = c.Line.Args[0]
	}
	if len(c.Line.Args) > 1 {
		o.agents = cmp.Or(o.agents, c.Line.Args[1])
	}
	agent := o.agents
	switch {
	case o.verb != "install" && o.verb != "uninstall" && o.verb != "status":
		return invoke.UnknownVerb("hooks", o.verb, "status", []string{"install", "uninstall", "status"})
	case agent != "" && agent != allAgents && hook.AgentNamed(agent) == nil:
		return unknownAgent(agent)
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
	return nil
}

func unknownAgent(name string) error {
	return failure.Usagef("hooks: --agent: %q is not one of %s, all", name, strings.Join(hook.Agents(), ", "))
}

func runHooks(c *invoke.Invocation, o *hooksOptions) error {
	if err := o.check(c); err != nil {
		return err
	}
	if o.manual {
		return showManual(c, o)
	}
	return applyHooks(c, o)
}

// applyHooks installs, removes or shows hooks.
func applyHooks(c *invoke.Invocation, o *hooksOptions) error {
	r, err := openHooks(c, o)
	if err != nil {
		return err
	}
	if o.verb == "status" {
		return hooksStatus(c, r)
	}
	var changes []install.HookChange
	switch {
	case o.agents != "" || o.skill:
		changes, err = planAgents(r, o)
	case o.verb == "install":
		changes, err = r.Install(o.push)
	default:
		changes, err = r.Uninstall()
	}
	if err != nil {
		return err
	}
	return changeHooks(c, r, o, changes)
}

// planAgents plans the hooks of agents, the skill, or both.
func planAgents(r *install.Repo, o *hooksOptions) (plan []install.HookChange, err error) {
	agents, err := chosenAgents(r, o)
	if err != nil {
		return nil, err
	}
	for _, a := range agents {
		more, err := r.Agent(a, o.verb == "install")
		if err != nil {
			return nil, err
		}
		plan = append(plan, more...)
	}
	if !o.skill {
		return plan, nil
	}
	more, err := r.Skill(o.verb == "install")
	return append(plan, more...), err
}

// allAgents is the value of --agent for all agents that are here.
const allAgents = "all"

var errNoAgent = failure.New(failure.Usage, "git checkpoint hooks install --agent claude", "none of "+strings.Join(hook.Agents(), ", ")+" is on PATH or has a directory here")

// chosenAgents returns the agents of --agent: with all, those that this user or project
// uses, and for a removal those with hooks.
func chosenAgents(r *install.Repo, o *hooksOptions) ([]*hook.Agent, error) {
	if o.agents == "" {
		return nil, nil
	}
	if a := hook.AgentNamed(o.agents); a != nil {
		return []*hook.Agent{a}, nil
	}
	if o.agents != allAgents {
		return nil, unknownAgent(o.agents)
	}
	if o.verb == "install" {
		agents, err := r.AgentsHere()
		if err == nil && len(agents) == 0 {
			err = errNoAgent
		}
		return agents, err
	}
	found, err := r.Agents()
	var agents []*hook.Agent
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
	runs := o.agents == "" || o.verb != "install" || o.dryRun || tellOff(c, r)
	switch {
	case len(changes) == 0:
		c.Infof("nothing to do")
	case o.verb == "install" && !o.dryRun:
		tellEffect(c, o, runs)
	case !o.dryRun:
		c.Infof("an agent that is running keeps its hooks until it ends")
	}
	if c.Line.JSON {
		return c.WriteJSON(result)
	}
	return nil
}

// tellOff warns of the settings files with hooks that an agent does not run. It reports whether the
// hooks of a file run.
func tellOff(c *invoke.Invocation, r *install.Repo) (runs bool) {
	agents, _ := r.Agents()
	for _, a := range agents {
		if a.Off != "" {
			c.Warnf("%s runs no hook of %s: %s", a.Agent, a.Path, a.Off)
		} else {
			runs = true
		}
	}
	return runs
}

// tellEffect prints in two lines what the installed hooks do from now on. An agent that runs none does
// nothing.
func tellEffect(c *invoke.Invocation, o *hooksOptions, runs bool) {
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
			c.Infof("git push pushes no checkpoints: to change that, git checkpoint hooks install --push")
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

// hooksStatus prints the installed hooks and whether git runs them.
func hooksStatus(c *invoke.Invocation, r *install.Repo) error {
	result := view.Hooks{Type: "hooks", Action: "status"}
	var err error
	if result.Hooks, err = r.Status(); err != nil {
		return err
	}
	if result.Agents, err = r.EveryAgent(); err != nil {
		return err
	}
	for i := range result.Agents {
		addRuns(c, &result.Agents[i])
	}
	if result.Skills, err = r.Skills(); err != nil {
		return err
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
		name := agent.HookOf(event)
		if agent.Plugin != "" { // a plugin has one event for all hooks
			name = "*"
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

// hookLine describes a hook in one line.
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
