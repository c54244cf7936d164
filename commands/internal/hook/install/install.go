package install

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
)

// Install plans the installation of git's hooks; push enables the push of checkpoints in
// pre-push.
func (r *Repo) Install(push bool) ([]HookChange, error) {
	version, err := gitstore.InstalledGitVersion()
	if err != nil {
		return nil, err
	}
	var plan []HookChange
	if version.AtLeast(2, 54) {
		plan, err = r.installConfig()
	} else {
		plan, err = r.installFiles()
	}
	if err != nil {
		return nil, err
	}
	if push {
		plan = append(plan, r.settingChange()...)
	}
	return plan, nil
}

// installConfig plans hooks in git's configuration. It also removes blocks from hook
// files, which an older git needed; otherwise hooks would run twice.
func (r *Repo) installConfig() ([]HookChange, error) {
	var plan []HookChange
	for _, e := range hook.Events() {
		if event, command := r.configHook(e, r.Global); event == string(e) && command == e.ConfigCommand() {
			continue
		}
		if err := r.editedConfig(true, e); err != nil {
			return nil, err
		}
		section := "hook." + e.ConfigName()
		plan = append(plan, HookChange{Text: fmt.Sprintf("set %s in git's configuration (%s)", section, r.scope()), Do: func() error {
			err := r.setConfig("--replace-all", section+".event", string(e))
			if err == nil {
				err = r.setConfig("--replace-all", section+".command", e.ConfigCommand())
			}
			return err
		}})
	}
	if r.Global {
		return plan, nil
	}
	out, err := r.uninstallFiles()
	return append(plan, out...), err
}

// configHook returns a hook's event and command in git's configuration. If own is true,
// only entries of this scope count.
func (r *Repo) configHook(e hook.Event, own bool) (event, command string) {
	for _, entry := range r.c.Store.Config() {
		if own && entry.Scope != r.scope() {
			continue
		}
		switch entry.Key {
		case "hook." + e.ConfigName() + ".event":
			event = entry.Value
		case "hook." + e.ConfigName() + ".command":
			command = entry.Value
		}
	}
	return event, command
}

// editedConfig refuses to change a configured hook whose command was edited by a user.
func (r *Repo) editedConfig(install bool, e hook.Event) error {
	_, command := r.configHook(e, true)
	if command == "" || command == e.ConfigCommand() || r.Force {
		return nil
	}
	return refuse(r.forced(install), "hook.%s.command in git's configuration (%s) was edited", e.ConfigName(), r.scope())
}

// scope returns the scope of the configuration file to write.
func (r *Repo) scope() string {
	if r.Global {
		return "global"
	}
	return "local"
}

// setConfig changes git's configuration; git replaces the file atomically. The first
// change keeps a copy of the file.
func (r *Repo) setConfig(args ...string) error {
	change := func() error { return r.runConfig(args) }
	if r.keptConfig {
		return change()
	}
	f, err := atomicfile.Read(r.configFile())
	if err != nil {
		return err
	}
	r.keptConfig = true
	return r.keep(f, change)
}

// configFile returns the path of the configuration file that git config writes for this
// scope.
func (r *Repo) configFile() string {
	if !r.Global {
		return filepath.Join(r.c.Store.CommonDir(), "config")
	}
	if file := os.Getenv("GIT_CONFIG_GLOBAL"); file != "" {
		return file
	}
	home, _ := os.UserHomeDir()
	file := filepath.Join(home, ".gitconfig")
	xdg := filepath.Join(cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "git", "config")
	if !isFile(file) && isFile(xdg) {
		return xdg
	}
	return file
}

const prePushKey = "checkpoint.hooks.pre-push"

// settingMark returns the path of a file that records that an install set prePushKey.
func (r *Repo) settingMark() (string, error) {
	dir, err := r.keepDir()
	return filepath.Join(dir, "pre-push-was-set"), err
}

// settingChange plans to enable pushes in pre-push, unless already enabled.
func (r *Repo) settingChange() []HookChange {
	if r.c.Settings.String("hooks.pre_push") != "off" {
		return nil
	}
	return []HookChange{{Text: fmt.Sprintf("set %s = push (%s)", prePushKey, r.scope()), Do: func() error {
		mark, err := r.settingMark()
		if err != nil {
			return err
		}
		f, err := atomicfile.Read(mark)
		if err != nil {
			return err
		}
		if err := f.Write(prePushKey + "\n"); err != nil {
			return err
		}
		r.share(filepath.Dir(mark), mark)
		return r.setConfig(prePushKey, "push")
	}}}
}

// installFiles plans the installation into hook files.
func (r *Repo) installFiles() ([]HookChange, error) {
	site, err := r.site()
	if err != nil {
		return nil, err
	}
	var plan []HookChange
	for _, e := range hook.Events() {
		ch, err := r.installFile(site, e)
		if err != nil {
			return nil, err
		}
		plan = append(plan, ch...)
		out, err := r.unsetConfig(e)
		if err != nil {
			return nil, err
		}
		plan = append(plan, out...)
	}
	return plan, nil
}

// installFile plans the installation into one hook file.
func (r *Repo) installFile(site site, e hook.Event) ([]HookChange, error) {
	path := site.file(e)
	shown := r.shownFile(path)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return []HookChange{{"write " + shown, func() error {
			f, err := atomicfile.Read(path)
			if err == nil {
				err = f.Create(hook.File(e, site.style), hookMode(site.style))
			}
			if err == nil {
				r.share(filepath.Dir(path), path)
			}
			return err
		}}}, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := atomicfile.Read(path)
	if err != nil {
		return nil, err
	}
	text := f.Text
	switch found := hook.Find(text, e); {
	case found == hook.Absent && legacy(site, e, text):
		return nil, nil
	case found == hook.Whole:
		return nil, r.checkRuns(info, site, shown)
	case found == hook.Edited && !r.Force:
		return nil, r.edited(true, shown)
	case found == hook.Edited:
		rest, _ := hook.Remove(text, e)
		if hook.Find(rest, e) != hook.Absent {
			return nil, refuse("", "%s: the block's closing mark is missing: take it out by hand", shown)
		}
		text = rest
	}
	if err := r.checkRuns(info, site, shown); err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 || !hook.IsShell(text, site.style) {
		return r.wrapFile(site, e)
	}
	what := "put a block into " + shown
	if m := hook.Manager(text); m == "lefthook" || m == "pre-commit" || m == "overcommit" {
		what += ", which an install of " + m + " takes out again"
	}
	return []HookChange{{what, func() error {
		return r.replace(f, hook.Insert(text, e, site.style))
	}}}, nil
}

// legacy reports whether a hook file of pre-commit calls a renamed file that contains the
// block.
func legacy(site site, e hook.Event, text string) bool {
	data, err := os.ReadFile(site.renamed(e)[0])
	return err == nil && hook.Manager(text) == "pre-commit" && hook.Find(string(data), e) == hook.Whole
}

func (r *Repo) edited(install bool, shown string) error {
	return refuse(r.forced(install), "%s: its block was edited, or is another version's", shown)
}

// checkRuns refuses a non-executable file, which git ignores. Setting the executable bit
// would enable a hook that was disabled on purpose.
func (r *Repo) checkRuns(info fs.FileInfo, site site, shown string) error {
	if site.style.Bare || runtime.GOOS == "windows" || info.Mode()&fs.ModeSymlink != 0 || info.Mode().Perm()&0o111 != 0 {
		return nil
	}
	return refuse("chmod +x "+view.Shell(shown), "%s is not executable, so git does not run it", shown)
}

// wrapFile plans to move a symlink or non-shell hook aside and to write a wrapper that calls
// it. A hook exists under the original name at all times.
func (r *Repo) wrapFile(site site, e hook.Event) ([]HookChange, error) {
	path, aside := site.file(e), site.aside(e)
	if _, err := os.Lstat(aside); err == nil && !sameHook(path, aside) {
		return nil, refuse("", "%s is in the way", r.shownFile(aside))
	}
	return []HookChange{{fmt.Sprintf("move %s to %s and write one that calls it", r.shownFile(path), r.shownFile(aside)), func() error {
		if err := r.copyAside(path, aside); err != nil {
			return err
		}
		return atomicfile.PlaceFile(path, hook.Wrapper(e), hookMode(hook.Style{}))
	}}}, nil
}
