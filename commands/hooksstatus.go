package commands

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/hook"
	"git-checkpoint/commands/output"
)

// canaryTime bounds a canary's run.
const canaryTime = 10 * time.Second

// canaryVariable holds a word that a hook of ours says when it is called,
// instead of doing anything.
const canaryVariable = "GIT_CHECKPOINT_CANARY"

// hooksStatus says what is installed, and lets git run it to see whether it
// does.
func (c *call) hooksStatus() error {
	version, err := c.gitVersion()
	if err != nil {
		return err
	}
	result := output.Hooks{Type: "hooks", Action: "status", Hooks: c.findHooks(version)}
	if result.Agents, err = c.agentsStatus(); err != nil {
		return err
	}
	if c.json {
		return c.write(result)
	}
	for _, h := range result.Hooks {
		c.print("%s\n", output.Clean(hookLine(h)))
	}
	for _, a := range result.Agents {
		c.print("%s: %s in %s\n", a.Agent, list(a.Events), output.Clean(a.Path))
	}
	return nil
}

// findHooks looks for every hook that may be installed.
func (c *call) findHooks(version [2]int) []output.Hook {
	var hooks []output.Hook
	for _, e := range hook.Events() {
		found := c.findHook(e, version)
		found.Event, found.Setting = string(e), c.settings.String("hooks."+strings.ReplaceAll(string(e), "-", "_"))
		hooks = append(hooks, found)
	}
	return hooks
}

// hookLine is a hook in words.
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

// findHook looks where a hook is installed and tries it.
func (c *call) findHook(e hook.Event, version [2]int) output.Hook {
	if place := c.configPlace(e); place != "" {
		h := output.Hook{Way: "config", Place: place}
		if !atLeast(version, 2, 54) {
			h.Why = fmt.Sprintf("git %d.%d does not know hooks in its configuration", version[0], version[1])
			return h
		}
		h.Runs, h.Why = c.canary(c.configCanary(e))
		return h
	}
	for _, site := range c.hookSites(true) {
		data, err := os.ReadFile(site.file(e))
		if err == nil && legacy(site, e, string(data)) {
			path := site.renamed(e)[0]
			h := output.Hook{Way: "file", Place: c.shownFile(path), Manager: "pre-commit"}
			h.Runs, h.Why = c.canary([]string{path, "canary", "canary"}) // pre-commit calls it before its own
			return h
		}
		if err != nil || hook.Find(string(data), e) == hook.Absent {
			continue
		}
		h := output.Hook{Way: "file", Place: c.shownFile(site.file(e)), Manager: first(site.manager, hook.Manager(string(data)))}
		if !hook.OnTop(string(data), e) {
			h.Why = "the block is not at the top of the file"
			return h
		}
		h.Runs, h.Why = c.canary(c.fileCanary(e, version))
		return h
	}
	return output.Hook{}
}

// configPlace is the setting that has a hook, "" for none.
func (c *call) configPlace(e hook.Event) string {
	for _, entry := range slices.Backward(c.store.Config()) {
		if entry.Key == "hook."+e.ConfigName()+".command" {
			return fmt.Sprintf("hook.%s (%s)", e.ConfigName(), entry.Scope)
		}
	}
	return ""
}

// configCanary runs the event's hooks in git's configuration without those of
// others, and no hook file.
func (c *call) configCanary(e hook.Event) []string {
	args := append([]string{"git", "-c", "core.hooksPath=" + os.DevNull}, c.silencing("hook."+e.ConfigName())...)
	return append(args, "hook", "run", string(e), "--", "canary", "canary")
}

// silencing are the flags that switch the hooks in git's configuration off,
// but one.
func (c *call) silencing(but string) []string {
	var flags []string
	for _, entry := range c.store.Config() {
		section, ok := strings.CutSuffix(entry.Key, ".event")
		if ok && strings.HasPrefix(section, "hook.") && section != but {
			flags = append(flags, "-c", section+".enabled=false")
		}
	}
	return flags
}

// fileCanary runs the hook file that git would run, through git where that can
// be asked to. The block is at its top, and lets a canary go no further.
func (c *call) fileCanary(e hook.Event, version [2]int) []string {
	if atLeast(version, 2, 36) {
		return append(append([]string{"git"}, c.silencing("")...), "hook", "run", string(e), "--", "canary", "canary")
	}
	dir := filepath.Join(c.store.CommonDir(), "hooks")
	if path, err := c.hooksPath(); err == nil {
		dir = path
	}
	return []string{filepath.Join(dir, string(e)), "canary", "canary"}
}

// canary runs a command that should lead to a hook of ours, and listens.
func (c *call) canary(argv []string) (runs bool, why string) {
	ctx, cancel := context.WithTimeout(c.ctx, canaryTime)
	defer cancel()
	word := rand.Text()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = first(c.store.Root(), c.store.CommonDir())
	cmd.Env = append(os.Environ(), canaryVariable+"="+word, "LC_ALL=C")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case strings.Contains(string(out), word):
		return true, ""
	case err != nil:
		return false, fmt.Sprintf("%v: %s", err, strings.TrimSpace(string(out)))
	}
	return false, first(strings.TrimSpace(string(out)), "git ran nothing of ours; is git-checkpoint on PATH?")
}

// agentsStatus lists the agents that have hooks here.
func (c *call) agentsStatus() ([]output.Agent, error) {
	if c.store.Root() == "" && !c.flags.Bool("global") {
		return nil, nil
	}
	var all []output.Agent
	for _, name := range hook.Agents() {
		a := hook.AgentNamed(name)
		file, toml, err := c.agentFiles(a)
		if err != nil {
			return nil, err
		}
		if events := a.Installed(file.text); len(events) > 0 {
			all = append(all, output.Agent{Agent: name, Path: c.shownFile(file.path), Events: events})
		}
		if events := a.InstalledTOML(toml.text); len(events) > 0 {
			all = append(all, output.Agent{Agent: name, Path: c.shownFile(toml.path), Events: events})
		}
	}
	return all, nil
}
