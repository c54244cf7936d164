package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/commands/config"
	"git-checkpoint/commands/hook"
)

// planUninstall says what an uninstall does: without --agent it takes out
// everything that this repository has.
func (c *call) planUninstall() ([]change, error) {
	if name := c.flags.String("agent"); name != "" {
		return c.planAgent(hook.AgentNamed(name), false)
	}
	plan, err := c.uninstallFiles()
	if err != nil {
		return nil, err
	}
	for _, e := range hook.Events() {
		plan = append(plan, c.unsetConfig(e)...)
	}
	plan = append(plan, c.unsetSetting()...)
	if c.flags.Bool("global") {
		return plan, nil
	}
	for _, name := range hook.Agents() {
		out, err := c.planAgent(hook.AgentNamed(name), false)
		if err != nil {
			return nil, err
		}
		plan = append(plan, out...)
	}
	return plan, nil
}

// unsetConfig takes a hook out of git's configuration.
func (c *call) unsetConfig(e hook.Event) []change {
	section := "hook." + e.ConfigName()
	if !slices.ContainsFunc(c.store.Config(), func(entry config.GitEntry) bool {
		return entry.Scope == c.scope() && strings.HasPrefix(entry.Key, section+".")
	}) {
		return nil
	}
	return []change{{fmt.Sprintf("take %s out of git's configuration (%s)", section, c.scope()), func() error {
		return c.setConfig("--remove-section", section)
	}}}
}

// unsetSetting takes back what --push has set; a block is a person's.
func (c *call) unsetSetting() []change {
	for _, e := range c.store.Config() {
		if e.Scope == c.scope() && e.Key == prePushKey && e.Value == "push" {
			return []change{{fmt.Sprintf("unset %s (%s)", prePushKey, c.scope()), func() error {
				return c.setConfig("--unset-all", prePushKey, "^push$")
			}}}
		}
	}
	return nil
}

// uninstallFiles takes the blocks out of all hook files that may have one.
func (c *call) uninstallFiles() ([]change, error) {
	var plan []change
	for _, site := range c.hookSites(c.flags.Bool("global")) {
		for _, e := range hook.Events() {
			var here []change
			for _, path := range append([]string{site.file(e)}, site.renamed(e)...) {
				ch, err := c.uninstallFile(path, site.aside(e), e)
				if err != nil {
					return nil, err
				}
				here = append(here, ch...)
			}
			if len(here) == 0 {
				here = c.stranded(site.file(e), site.aside(e))
			}
			plan = append(plan, here...)
		}
	}
	return plan, nil
}

// uninstallFile takes the block out of one file, which may have one aside.
func (c *call) uninstallFile(path, aside string, e hook.Event) ([]change, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, shown := string(data), c.shownFile(path)
	rest, gone := hook.Remove(text, e)
	switch found := hook.Find(text, e); {
	case found == hook.Absent:
		return nil, nil
	case found == hook.Edited && !c.flags.Bool("force"):
		return nil, c.edited("uninstall", shown)
	case hook.Find(rest, e) != hook.Absent:
		return nil, fail(exitRefused, "", "hooks: %s: the block's closing mark is missing: take it out by hand", shown)
	case gone:
		return []change{{"remove " + shown, func() error { return removeHook(path, aside) }}}, nil
	}
	return []change{{"take the block out of " + shown, func() error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return replaceFile(path, []byte(rest), info.Mode().Perm())
	}}}, nil
}

// stranded puts a hook back whose wrapper somebody has removed, and tells of
// one in whose place something else stands.
func (c *call) stranded(path, aside string) []change {
	if !isFile(aside) {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		c.warn("%s is from before an install, and %s has been written anew since", c.shownFile(aside), c.shownFile(path))
		return nil
	}
	return []change{{"put " + c.shownFile(path) + " back", func() error { return putBack(aside, path) }}}
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
