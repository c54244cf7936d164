package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/commands/hook"
	"git-checkpoint/gitstore/gitcmd"
)

// Uninstall says what it takes to take out everything that this repository has.
func (r *Repo) Uninstall() ([]Change, error) {
	plan, err := r.uninstallFiles()
	if err != nil {
		return nil, err
	}
	for _, e := range hook.Events() {
		plan = append(plan, r.unsetConfig(e)...)
	}
	plan = append(plan, r.unsetSetting()...)
	if r.Global {
		return plan, nil
	}
	for _, name := range hook.Agents() {
		out, err := r.Agent(hook.AgentNamed(name), false)
		if err != nil {
			return nil, err
		}
		plan = append(plan, out...)
	}
	return plan, nil
}

// unsetConfig takes a hook out of git's configuration.
func (r *Repo) unsetConfig(e hook.Event) []Change {
	section := "hook." + e.ConfigName()
	if !slices.ContainsFunc(r.Config, func(entry gitcmd.Entry) bool {
		return entry.Scope == r.scope() && strings.HasPrefix(entry.Key, section+".")
	}) {
		return nil
	}
	return []Change{{fmt.Sprintf("take %s out of git's configuration (%s)", section, r.scope()), func() error {
		return r.setConfig("--remove-section", section)
	}}}
}

// unsetSetting takes back what --push has set; a block is a person's.
func (r *Repo) unsetSetting() []Change {
	for _, e := range r.Config {
		if e.Scope == r.scope() && e.Key == prePushKey && e.Value == "push" {
			return []Change{{fmt.Sprintf("unset %s (%s)", prePushKey, r.scope()), func() error {
				return r.setConfig("--unset-all", prePushKey, "^push$")
			}}}
		}
	}
	return nil
}

// uninstallFiles takes the blocks out of all hook files that may have one.
func (r *Repo) uninstallFiles() ([]Change, error) {
	var plan []Change
	for _, site := range r.sites(r.Global) {
		for _, e := range hook.Events() {
			var here []Change
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
	}
	return plan, nil
}

// uninstallFile takes the block out of one file, which may have one aside.
func (r *Repo) uninstallFile(path, aside string, e hook.Event) ([]Change, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, shown := string(data), r.shownFile(path)
	rest, gone := hook.Remove(text, e)
	switch found := hook.Find(text, e); {
	case found == hook.Absent:
		return nil, nil
	case found == hook.Edited && !r.Force:
		return nil, r.edited("uninstall", shown)
	case hook.Find(rest, e) != hook.Absent:
		return nil, refuse("", "%s: the block's closing mark is missing: take it out by hand", shown)
	case gone:
		return []Change{{"remove " + shown, func() error { return removeHook(path, aside) }}}, nil
	}
	return []Change{{"take the block out of " + shown, func() error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return replaceFile(path, []byte(rest), info.Mode().Perm())
	}}}, nil
}

// stranded puts a hook back whose wrapper somebody has removed, and tells of
// one in whose place something else stands.
func (r *Repo) stranded(path, aside string) []Change {
	if !isFile(aside) {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		r.Warn("%s is from before an install, and %s has been written anew since", r.shownFile(aside), r.shownFile(path))
		return nil
	}
	return []Change{{"put " + r.shownFile(path) + " back", func() error { return putBack(aside, path) }}}
}

// putBack moves a hook to where it was.
func putBack(aside, path string) error {
	if err := moveHook(aside, path, ""); err != nil {
		return err
	}
	os.Remove(filepath.Dir(aside)) // unless another hook is there
	return nil
}

// removeHook removes a file that was made for the block, and puts back what it
// stood before.
func removeHook(path, aside string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	if _, err := os.Lstat(aside); err == nil {
		return putBack(aside, path)
	}
	return nil
}
