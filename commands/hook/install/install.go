package install

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"git-checkpoint/commands/atomicfile"
	"git-checkpoint/commands/hook"
	"git-checkpoint/commands/output"
)

// Install says what an install of git's hooks does; push lets pre-push push
// checkpoints.
func (r *Repo) Install(push bool) ([]HookChange, error) {
	version, err := r.Git.Version(r.Context)
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

// installConfig puts the hooks into git's configuration, and takes blocks out
// that an older git has needed: else they would run twice.
func (r *Repo) installConfig() ([]HookChange, error) {
	var plan []HookChange
	for _, e := range hook.Events() {
		if r.configured(e) {
			continue
		}
		if err := r.editedConfig("install", e); err != nil {
			return nil, err
		}
		plan = append(plan, r.configChange(e))
	}
	if r.Global {
		return plan, nil
	}
	out, err := r.uninstallFiles()
	return append(plan, out...), err
}

// configured reports whether git's configuration has the hook as it should be:
// in the file that is meant, or for all repositories already.
func (r *Repo) configured(e hook.Event) bool {
	event, command := r.configHook(e, r.Global)
	return event == string(e) && command == e.ConfigCommand()
}

// configHook returns the settings of a hook in git's configuration, of this
// scope alone if own is set.
func (r *Repo) configHook(e hook.Event, own bool) (event, command string) {
	for _, entry := range r.Config {
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

// editedConfig refuses to change a hook in git's configuration whose command a
// user has written.
func (r *Repo) editedConfig(verb string, e hook.Event) error {
	_, command := r.configHook(e, true)
	if command == "" || hook.IsOwnConfigCommand(e, command) || r.Force {
		return nil
	}
	return refuse("git checkpoint hooks "+verb+" --force", "hook.%s.command in git's configuration (%s) was edited", e.ConfigName(), r.scope())
}

// scope is the configuration file that is written.
func (r *Repo) scope() string {
	if r.Global {
		return "global"
	}
	return "local"
}

func (r *Repo) configChange(e hook.Event) HookChange {
	section := "hook." + e.ConfigName()
	return HookChange{Text: fmt.Sprintf("set %s in git's configuration (%s)", section, r.scope()), Do: func() error {
		for _, kv := range [][2]string{{".event", string(e)}, {".command", e.ConfigCommand()}} {
			if err := r.setConfig("--replace-all", section+kv[0], kv[1]); err != nil {
				return err
			}
		}
		return nil
	}}
}

// setConfig changes git's configuration. Git itself replaces the file in one
// step. The first change keeps a copy of the file.
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

// configFile is the file that git config writes for this scope.
func (r *Repo) configFile() string {
	if !r.Global {
		return filepath.Join(r.CommonDir, "config")
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

// settingMark is a file that says that an install set prePushKey.
func (r *Repo) settingMark() (string, error) {
	dir, err := r.keepDir()
	return filepath.Join(dir, "pre-push-was-set"), err
}

// settingChange lets pre-push push, unless it does already.
func (r *Repo) settingChange() []HookChange {
	if r.PrePush != "off" {
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
		return r.setConfig(prePushKey, "push")
	}}}
}

// installFiles puts the hooks into hook files.
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

// installFile puts one hook into its file.
func (r *Repo) installFile(site site, e hook.Event) ([]HookChange, error) {
	path := site.file(e)
	shown := r.shownFile(path)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return []HookChange{{"write " + shown, func() error { return createHook(path, hook.File(e, site.style), site.style) }}}, nil
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
		return nil, r.edited("install", shown)
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

// legacy reports a hook file of pre-commit's that calls the one which it has
// found, and that this has the block.
func legacy(site site, e hook.Event, text string) bool {
	data, err := os.ReadFile(site.renamed(e)[0])
	return err == nil && hook.Manager(text) == "pre-commit" && hook.Find(string(data), e) == hook.Whole
}

func (r *Repo) edited(verb, shown string) error {
	return refuse("git checkpoint hooks "+verb+" --force", "%s: its block was edited, or is another version's", shown)
}

// checkRuns refuses a file that git passes over: to make it executable would
// bring a hook back that was switched off.
func (r *Repo) checkRuns(info fs.FileInfo, site site, shown string) error {
	if site.style.Bare || runtime.GOOS == "windows" || info.Mode()&fs.ModeSymlink != 0 || info.Mode().Perm()&0o111 != 0 {
		return nil
	}
	return refuse("chmod +x "+output.Shell(shown), "%s is not executable, so git does not run it", shown)
}

// wrapFile moves a file aside that lines cannot be put into, and writes one
// that calls it. There is a hook in its place at any time.
func (r *Repo) wrapFile(site site, e hook.Event) ([]HookChange, error) {
	path, aside := site.file(e), site.aside(e)
	if _, err := os.Lstat(aside); err == nil && !sameHook(path, aside) {
		return nil, refuse("", "%s is in the way", r.shownFile(aside))
	}
	return []HookChange{{fmt.Sprintf("move %s to %s and write one that calls it", r.shownFile(path), r.shownFile(aside)), func() error {
		if err := copyAside(path, aside); err != nil {
			return err
		}
		return atomicfile.PlaceFile(path, hook.Wrapper(e), hookMode(hook.Style{}))
	}}}, nil
}
