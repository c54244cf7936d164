package invoke

import (
	"errors"

	"git-checkpoint/commands/internal/config"
)

// loadSettings reads the settings and prints their warnings. A command that only reads
// ignores an invalid settings file in the worktree, so that work can always be resumed.
func (c *Invocation) loadSettings() error {
	var err error
	c.Settings, err = config.Load(config.Sources{
		Root: c.Store.Root(), Git: c.Store.Config(), Environ: c.Env.Environ, Getenv: c.Env.Getenv,
	})
	for _, w := range c.Settings.Warnings() {
		c.Warnf("%s", w)
	}
	var invalid *config.SettingError
	if c.reads() && errors.As(err, &invalid) && invalid.InWorktree() {
		c.Warnf("%v; the file is ignored", err)
		return nil
	}
	return err
}
