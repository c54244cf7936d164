package install

import (
	"errors"
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
func (r *Repo) agentHome() (string, error) {
	if r.Global {
		return os.UserHomeDir()
	}
	if r.Root == "" {
		return "", refuse("", "a bare repository has no place for an agent's settings: use --global")
	}
	return r.Root, nil
}

// agentFiles are the two files that may hold an agent's hooks; the second is
// the zero value for an agent that has but one.
func (r *Repo) agentFiles(a *hook.Agent) (file, toml settingsFile, err error) {
	home, err := r.agentHome()
	if err != nil {
		return file, toml, err
	}
	if file, err = readSettings(filepath.Join(home, filepath.FromSlash(a.File))); err != nil || a.TOML == "" {
		return file, toml, err
	}
	toml, err = readSettings(filepath.Join(home, filepath.FromSlash(a.TOML)))
	return file, toml, err
}

// Agent says what an install or uninstall of an agent's hooks does.
func (r *Repo) Agent(a *hook.Agent, install bool) ([]Change, error) {
	if r.Root == "" && !install && !r.Global {
		return nil, nil
	}
	file, toml, err := r.agentFiles(a)
	if err != nil {
		return nil, err
	}
	if install && hook.HasTOMLHooks(toml.text) && file.text == "" {
		return r.settingsChange(toml, a.InstallTOML(toml.text), "add hooks to "), nil
	}
	if install {
		text, err := a.Install(file.text)
		if err != nil {
			return nil, &SettingsError{a.Name, r.shownFile(file.path), err}
		}
		return r.settingsChange(file, text, "add hooks to "), nil
	}
	plan := r.settingsChange(file, a.Uninstall(file.text), "take hooks out of ")
	return append(plan, r.settingsChange(toml, a.UninstallTOML(toml.text), "take hooks out of ")...), nil
}

func (r *Repo) settingsChange(f settingsFile, text, what string) []Change {
	if text == f.text {
		return nil
	}
	return []Change{{what + r.shownFile(f.path), func() error { return f.write(text) }}}
}
