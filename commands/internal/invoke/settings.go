package invoke

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

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
	c.tellFile(c.Settings.File())
	// Every save continues: a conflict in a settings file must not cost the work. Only a command that
	// shows or applies the settings themselves fails.
	var invalid *config.SettingError
	if !errors.As(err, &invalid) || c.Line.Command != nil && c.Line.Command.NeedsSettings {
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

// The note toldNote has a digest of each settings file, with its messages, that a person has read.
const (
	toldNote = "told-settings"
	maxLines = 100
)

// tellFile prints the messages about the settings file of the worktree, once for each change
// of the file or of the messages. A command about the settings always prints them.
func (c *Invocation) tellFile(f config.File) {
	if len(f.Warnings)+len(f.Hints) == 0 {
		return
	}
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(f.Digest+strings.Join(slices.Concat(f.Warnings, f.Hints), "\n"))))
	always := c.Line.Command != nil && c.Line.Command.NeedsSettings
	if !always && slices.Contains(c.told(), digest) {
		return
	}
	for _, w := range f.Warnings {
		c.Warnf("%s", w)
	}
	for _, hint := range f.Hints {
		switch {
		case c.Line.JSON:
			c.Warnf("%s", hint)
		case !c.Out.Quiet:
			c.Infof("hint: %s", hint)
		}
	}
	if !c.Line.JSON && !c.Out.Quiet && !c.Line.Common.Quiet && !c.Env.InHook {
		_ = c.addTold(digest) // without the note, the next command prints them again
	}
}

// told returns the lines of toldNote.
func (c *Invocation) told() []string {
	data, err := os.ReadFile(c.Store.Notes.Path(toldNote))
	if err != nil {
		return nil
	}
	return strings.Fields(string(data))
}

// addTold adds a line to toldNote, which keeps the newest lines.
func (c *Invocation) addTold(line string) error {
	release, err := c.Store.Notes.Lock(c.Ctx, toldNote)
	if err != nil {
		return err
	}
	defer release()
	lines := append(slices.DeleteFunc(c.told(), func(l string) bool { return l == line }), line)
	lines = lines[max(0, len(lines)-maxLines):]
	return c.Store.Notes.Write(toldNote, []byte(strings.Join(lines, "\n")+"\n"))
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
