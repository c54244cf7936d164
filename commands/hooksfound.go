package commands

import (
	"strings"

	"git-checkpoint/commands/hook/install"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/output"
)

// hooksRepo returns the repository and settings for hook installation.
func hooksRepo(c *invoke.Invocation) *install.Repo {
	return &install.Repo{
		Context: c.Ctx, Git: c.Store.Git(), Config: c.Store.Config(), Root: c.Store.Root(), CommonDir: c.Store.CommonDir(),
		PrePush: c.Settings.String("hooks.pre_push"), Global: c.Flags.Bool("global"), Force: c.Flags.Bool("force"), Warn: c.Warnf,
		ClearLock: c.Store.ClearLock,
	}
}

// findHooks returns the state and the setting of each git hook.
func findHooks(c *invoke.Invocation) ([]output.Hook, error) {
	found, err := hooksRepo(c).Status()
	var hooks []output.Hook
	for _, h := range found {
		hooks = append(hooks, output.Hook{
			Event: string(h.Event), Way: h.Way, Place: h.Place, Manager: h.Manager, Runs: h.Runs, Why: h.Why,
			Setting: c.Settings.String("hooks." + strings.ReplaceAll(string(h.Event), "-", "_")),
		})
	}
	return hooks, err
}
