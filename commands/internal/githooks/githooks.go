// Package githooks finds the hooks that are installed in a repository.
package githooks

import (
	"strings"

	"git-checkpoint/commands/internal/hook/install"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
)

// Repo returns the repository and settings for hook installation, without the flags of
// the command hooks.
func Repo(c *invoke.Invocation) *install.Repo {
	return &install.Repo{
		Context: c.Ctx, Git: c.Store.Git(), Config: c.Store.Config(), Root: c.Store.Root(), CommonDir: c.Store.CommonDir(),
		PrePush: c.Settings.String("hooks.pre_push"), Warn: c.Warnf,
		ClearLock: c.Store.ClearLock, Share: c.Store.Share,
	}
}

// Find returns the state and the setting of each git hook.
func Find(c *invoke.Invocation, r *install.Repo) ([]view.Hook, error) {
	found, err := r.Status()
	var hooks []view.Hook
	for _, h := range found {
		hooks = append(hooks, view.Hook{
			Event: string(h.Event), Way: h.Way, Place: h.Place, Manager: h.Manager, Runs: h.Runs, Why: h.Why,
			Setting: c.Settings.String("hooks." + strings.ReplaceAll(string(h.Event), "-", "_")),
		})
	}
	return hooks, err
}
