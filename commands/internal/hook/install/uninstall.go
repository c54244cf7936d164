package install

import (
	"fmt"
	"os"
	"path/filepath"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/hook"
)

// Uninstall plans the removal of all hooks of this repository, or with --global of those of the user.
func (r *Repo) Uninstall() ([]HookChange, error) {
	plan, err := r.uninstallFiles()
	if err != nil {
		return nil, err
	}
	for _, e := range hook.Events() {
		out, err := r.unsetConfig(e)
		if err != nil {
			return nil, err
		}
		plan = append(plan, out...)
	}
	out, err := r.unsetSetting()
	if err != nil {
		return nil, err
	}
	plan = append(plan, out...)
	if r.c.Store.Root() == "" && !r.Global {
		return plan, nil
	}
	var agents []*hook.Agent
	for _, name := range hook.Agents() {
		if a := hook.AgentNamed(name); !r.Global || a.Home != "" {
			agents = append(agents, a)
		}
	}
	return r.Plan(plan, agents, true, false)
}

// unsetConfig plans to unset both configuration entries of a hook. Other entries in the
// section belong to the user.
func (r *Repo) unsetConfig(e hook.Event) ([]HookChange, error) {
	event, command := r.configHook(e, true)
	if event == "" && command == "" {
		return nil, nil
	}
	if err := r.editedConfig(false, e); err != nil {
		return nil, err
	}
	section := "hook." + e.ConfigName()
	return []HookChange{{fmt.Sprintf("take %s out of git's configuration (%s)", section, r.scope()), func() error {
		for _, kv := range [][2]string{{".event", event}, {".command", command}} {
			if kv[1] == "" {
				continue
			}
			if err := r.setConfig("--unset-all", section+kv[0]); err != nil {
				return err
			}
		}
		return nil
	}}}, nil
}

// unsetSetting plans to unset the setting of --push. A setting of the user remains.
func (r *Repo) unsetSetting() ([]HookChange, error) {
	for _, e := range r.c.Store.Config() {
		if e.Scope != r.scope() || e.Key != prePushKey || e.Value != "push" {
			continue
		}
		mark, err := r.settingMark()
		if err != nil {
			return nil, err
		}
		if !isFile(mark) {
			r.c.Warnf("%s = push (%s) was not set by an install, and stays", prePushKey, r.scope())
			return nil, nil
		}
		return []HookChange{{fmt.Sprintf("unset %s (%s)", prePushKey, r.scope()), func() error {
			if err := r.setConfig("--unset-all", prePushKey, "^push$"); err != nil {
				return err
			}
			return os.Remove(mark)
		}}}, nil
	}
	return nil, nil
}

// uninstallFiles plans the removal of blocks from all possible hook files.
func (r *Repo) uninstallFiles() ([]HookChange, error) {
	var plan []HookChange
	for _, site := range r.sites(r.Global) {
		for _, e := range hook.Events() {
			var here []HookChange
			for _, path := range append([]string{site.file(e)}, site.renamed(e)...) {
				ch, err := r.uninstallFile(path, site.aside(e), e)
				if err != nil {
					return nil, err
				}
				here = append(here, ch...)
			}
			if len(here) == 0 {
				here = r.stranded(site.file(e), site.aside(e))
			}
			plan = append(plan, here...)
		}
		folder := filepath.Join(site.dir, hook.Aside)
		if entries, err := os.ReadDir(folder); err == nil && len(entries) == 0 { // as left by a killed uninstall
			plan = append(plan, HookChange{"remove " + r.shownFile(folder), func() error { return os.Remove(folder) }})
		}
	}
	return plan, nil
}

// uninstallFile plans the removal of the block from one file. If the file is a wrapper, the
// original file is moved back from aside.
func (r *Repo) uninstallFile(path, aside string, e hook.Event) ([]HookChange, error) {
	f, err := atomicfile.Read(path)
	if err != nil {
		return nil, err
	}
	shown := r.shownFile(path)
	rest, gone := hook.Remove(f.Text, e)
	switch found := hook.Find(f.Text, e); {
	case found == hook.Absent:
		return nil, nil
	case found == hook.Edited && !r.Force:
		return nil, r.edited(false, shown)
	case hook.Find(rest, e) != hook.Absent:
		return nil, refuse("", "%s: the block's closing mark is missing: take it out by hand", shown)
	case gone:
		return []HookChange{{"remove " + shown, func() error { return removeHook(f, path, aside) }}}, nil
	}
	return []HookChange{{"take the block out of " + shown, func() error { return r.replace(f, rest) }}}, nil
}

// stranded handles a file in Aside without a wrapper. If no hook is in its place, the
// file is moved back. If the file equals the hook, which happens after a killed install,
// it is removed. Any other file causes a warning.
func (r *Repo) stranded(path, aside string) []HookChange {
	if !isFile(aside) {
		return nil
	}
	if sameHook(path, aside) {
		return []HookChange{{"remove " + r.shownFile(aside), func() error {
			defer os.Remove(filepath.Dir(aside)) // fails if another hook is in the directory
			return os.Remove(aside)
		}}}
	}
	if _, err := os.Lstat(path); err == nil {
		r.c.Warnf("%s is from before an install, and %s has been written anew since", r.shownFile(aside), r.shownFile(path))
		return nil
	}
	return []HookChange{{"put " + r.shownFile(path) + " back", func() error { return putBack(aside, path) }}}
}
