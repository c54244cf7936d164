package hooks

import (
	"fmt"
	"strings"

	"git-checkpoint/commands/internal/githooks"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
)

// hooksStatus prints the installed hooks and whether git runs them.
func hooksStatus(c *invoke.Invocation) error {
	result := output.Hooks{Type: "hooks", Action: "status"}
	var err error
	if result.Hooks, err = githooks.Find(c); err != nil {
		return err
	}
	agents, err := githooks.Repo(c).Agents()
	if err != nil {
		return err
	}
	for _, a := range agents {
		result.Agents = append(result.Agents, output.Agent{Agent: a.Agent, Path: a.Path, Events: a.Events})
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
