package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"git-checkpoint/commands/hook"
)

// A settingsFile is an agent's settings, as they are.
type settingsFile struct {
	path string // past symlinks
	text string // "" where there is none
	mode os.FileMode
}

func readSettings(path string) (settingsFile, error) {
	f := settingsFile{path: path, mode: 0o644}
	if at, err := filepath.EvalSymlinks(path); err == nil {
		f.path = at
	}
	data, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	if info, err := os.Stat(f.path); err == nil {
		f.mode = info.Mode().Perm()
	}
	f.text = string(data)
	return f, nil
}

// write makes the file hold a text; without one it goes, and the agent's
// folder with it where that is empty.
func (f settingsFile) write(text string) error {
	if text == "" {
		if err := os.Remove(f.path); err != nil {
			return err
		}
		os.Remove(filepath.Dir(f.path)) // unless there is more in it
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o777); err != nil {
		return err
	}
	return replaceFile(f.path, []byte(text), f.mode)
}

// agentHome is the folder that an agent's files are below: the worktree's
// root, or with --global the user's home.
func (c *call) agentHome() (string, error) {
	if c.flags.Bool("global") {
		return os.UserHomeDir()
	}
	if c.store.Root() == "" {
		return "", fail(exitRefused, "", "hooks: a bare repository has no place for an agent's settings: use --global")
	}
	return c.store.Root(), nil
}

// agentFiles are the two files that may hold an agent's hooks; the second is
// the zero value for an agent that has but one.
func (c *call) agentFiles(a *hook.Agent) (file, toml settingsFile, err error) {
	home, err := c.agentHome()
	if err != nil {
		return file, toml, err
	}
	if file, err = readSettings(filepath.Join(home, filepath.FromSlash(a.File))); err != nil || a.TOML == "" {
		return file, toml, err
	}
	toml, err = readSettings(filepath.Join(home, filepath.FromSlash(a.TOML)))
	return file, toml, err
}

// planAgent says what an install or uninstall of an agent's hooks does.
func (c *call) planAgent(a *hook.Agent, install bool) ([]change, error) {
	if c.store.Root() == "" && !install && !c.flags.Bool("global") {
		return nil, nil
	}
	file, toml, err := c.agentFiles(a)
	if err != nil {
		return nil, err
	}
	if install && hook.HasTOMLHooks(toml.text) && file.text == "" {
		return c.settingsChange(toml, a.InstallTOML(toml.text), "add hooks to "), nil
	}
	if install {
		text, err := a.Install(file.text)
		if err != nil {
			return nil, fail(exitUsage, "git checkpoint hooks install --manual --agent "+a.Name, "hooks: %s: %w", c.shownFile(file.path), err)
		}
		return c.settingsChange(file, text, "add hooks to "), nil
	}
	plan := c.settingsChange(file, a.Uninstall(file.text), "take hooks out of ")
	return append(plan, c.settingsChange(toml, a.UninstallTOML(toml.text), "take hooks out of ")...), nil
}

func (c *call) settingsChange(f settingsFile, text, what string) []change {
	if text == f.text {
		return nil
	}
	return []change{{what + c.shownFile(f.path), func() error { return f.write(text) }}}
}

// agentManual is what to paste for an agent.
func agentManual(a *hook.Agent) (string, error) {
	text, err := a.Install("")
	return fmt.Sprintf("# %s:\n%s", a.File, text), err
}
