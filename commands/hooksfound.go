package commands

import (
	"strings"

	"git-checkpoint/commands/hook/install"
	"git-checkpoint/commands/output"
)

// hooksRepo returns the repository and settings for hook installation.
func (c *Invocation) hooksRepo() *install.Repo {
	return &install.Repo{
		Context: c.ctx, Git: c.store.Git(), Config: c.store.Config(), Root: c.store.Root(), CommonDir: c.store.CommonDir(),
		PrePush: c.settings.String("hooks.pre_push"), Global: c.flags.Bool("global"), Force: c.flags.Bool("force"), Warn: c.warnf,
		ClearLock: c.store.ClearLock,
	}
}

// findHooks returns the state and the setting of each git hook.
func (c *Invocation) findHooks() ([]output.Hook, error) {
	found, err := c.hooksRepo().Status()
	var hooks []output.Hook
	for _, h := range found {
		hooks = append(hooks, output.Hook{
			Event: string(h.Event), Way: h.Way, Place: h.Place, Manager: h.Manager, Runs: h.Runs, Why: h.Why,
			Setting: c.settings.String("hooks." + strings.ReplaceAll(string(h.Event), "-", "_")),
		})
	}
	return hooks, err
}
