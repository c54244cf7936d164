package invoke

import (
	"errors"

	"git-checkpoint/commands/internal/config"
)

// loadSettings reads the settings and prints their warnings, each once.
func (c *Invocation) loadSettings() error {
	var err error
	c.Settings, err = config.Load(config.Sources{
		Root: c.Store.Root(), Git: c.Store.Config(), Environ: c.Env.Environ, Getenv: c.Env.Getenv,
	})
	for _, w := range c.Settings.Warnings() {
		c.Warnf("%s", w)
	}
	warning, err := judgeSettings(c.Declared, err)
	if warning != "" && warning != c.settingsWarning {
		c.settingsWarning = warning
		c.WarnAlways("%s", warning)
	}
	return err
}

// judgeSettings decides whether a command continues with the valid settings if others are
// invalid. Every save continues: a conflict in a settings file must not cost the work. Only
// a command that shows or applies the settings themselves fails.
func judgeSettings(d *Command, err error) (warning string, fatal error) {
	var invalid *config.SettingError
	if !errors.As(err, &invalid) || d != nil && d.NeedsSettings {
		return "", err
	}
	left := "this setting"
	if invalid.Key == "" {
		left = "the file"
	}
	return invalid.Error() + "; " + left + " is ignored, and retention removes no checkpoint", nil
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
