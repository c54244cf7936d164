package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"git-checkpoint/commands/hook"
	"git-checkpoint/commands/output"
)

// Install says what an install of git's hooks does; push lets pre-push push
// checkpoints.
func (r *Repo) Install(push bool) ([]Change, error) {
	version, err := GitVersion(r.Context, r.Git)
	if err != nil {
		return nil, err
	}
	var plan []Change
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
func (r *Repo) installConfig() ([]Change, error) {
	var plan []Change
	for _, e := range hook.Events() {
		if !r.configured(e) {
			plan = append(plan, r.configChange(e))
		}
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
	event, command := "", ""
	for _, entry := range r.Config {
		if r.Global && entry.Scope != "global" {
			continue
		}
		switch entry.Key {
		case "hook." + e.ConfigName() + ".event":
			event = entry.Value
		case "hook." + e.ConfigName() + ".command":
			command = entry.Value
		}
	}
	return event == string(e) && command == e.ConfigCommand()
}

// scope is the configuration file that is written.
func (r *Repo) scope() string {
	if r.Global {
		return "global"
	}
	return "local"
}

func (r *Repo) configChange(e hook.Event) Change {
	section := "hook." + e.ConfigName()
	return Change{Text: fmt.Sprintf("set %s in git's configuration (%s)", section, r.scope()), Do: func() error {
		for _, kv := range [][2]string{{".event", string(e)}, {".command", e.ConfigCommand()}} {
			if err := r.setConfig("--replace-all", section+kv[0], kv[1]); err != nil {
				return err
			}
		}
		return nil
	}}
}

func (r *Repo) setConfig(args ...string) error {
	_, err := r.Git.Output(r.Context, append([]string{"config", "--" + r.scope()}, args...)...)
	return err
}

const prePushKey = "checkpoint.hooks.pre-push"

// settingChange lets pre-push push, unless it does already.
func (r *Repo) settingChange() []Change {
	if r.PrePush != "off" {
		return nil
	}
	return []Change{{Text: fmt.Sprintf("set %s = push (%s)", prePushKey, r.scope()), Do: func() error {
		return r.setConfig(prePushKey, "push")
	}}}
}

// installFiles puts the hooks into hook files.
func (r *Repo) installFiles() ([]Change, error) {
	site, err := r.site()
	if err != nil {
		return nil, err
	}
	var plan []Change
	for _, e := range hook.Events() {
		ch, err := r.installFile(site, e)
		if err != nil {
			return nil, err
		}
		plan = append(plan, ch...)
		plan = append(plan, r.unsetConfig(e)...)
	}
	return plan, nil
}

// installFile puts one hook into its file.
func (r *Repo) installFile(site site, e hook.Event) ([]Change, error) {
	path := site.file(e)
	shown := r.shownFile(path)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return []Change{{"write " + shown, func() error { return createHook(path, hook.File(e, site.style), site.style) }}}, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text := string(data)
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
	return []Change{{what, func() error {
		return replaceFile(path, []byte(hook.Insert(text, e, site.style)), info.Mode().Perm())
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
// that calls it.
func (r *Repo) wrapFile(site site, e hook.Event) ([]Change, error) {
	path, aside := site.file(e), site.aside(e)
	if _, err := os.Lstat(aside); err == nil {
		return nil, refuse("", "%s is in the way", r.shownFile(aside))
	}
	return []Change{{fmt.Sprintf("move %s to %s and write one that calls it", r.shownFile(path), r.shownFile(aside)), func() error {
		if err := os.MkdirAll(filepath.Dir(aside), 0o777); err != nil {
			return err
		}
		if err := moveHook(path, aside, ".."); err != nil {
			return err
		}
		return createHook(path, hook.Wrapper(e), hook.Style{})
	}}}, nil
}
