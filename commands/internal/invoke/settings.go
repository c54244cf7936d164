package invoke

import (
	"errors"

	"git-checkpoint/commands/internal/config"
)

// loadSettings reads the settings and prints their warnings, each once.
func (c *Invocation) loadSettings() error {
	var err error
	c.Settings, err = config.Load(config.Sources{
		Root: c.Store.Root(), Git: c.Store.Config(), Environ: c.Env.Environ,
	})
	for _, w := range c.Settings.Warnings() {
		c.Warnf("%s", w)
	}
	// Every save continues: a conflict in a settings file must not cost the work. Only a command that
	// shows or applies the settings themselves fails.
	var invalid *config.SettingError
	if c.Line.Command != nil && c.Line.Command.NeedsSettings {
		for _, w := range c.Settings.NotApplied() {
			c.Warnf("%s", w)
		}
		if err != nil {
			return err
		}
	}
	if !errors.As(c.Settings.Invalid(), &invalid) {
		return err
	}
	left := "this setting"
	if invalid.Key == "" {
		left = "the file"
	}
	if warning := invalid.Error() + "; " + left + " is ignored, and retention removes no checkpoint"; warning != c.Out.settingsWarning {
		c.Out.settingsWarning = warning
		c.WarnAlways("%s", warning)
	}
	return nil
}

// CheckRemoteSetting returns the error of an invalid setting that could be a misspelt remote.
// Files in the worktree cannot set the remote.
func (c *Invocation) CheckRemoteSetting() error {
	var invalid *config.SettingError
	if errors.As(c.Settings.Invalid(), &invalid) && !invalid.InWorktree() && c.Settings.IsDefault("remote") {
		return invalid
	}
	return nil
}
