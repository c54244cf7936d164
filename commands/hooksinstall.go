package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"git-checkpoint/commands/hook"
)

// planInstall says what an install does.
func (c *call) planInstall() ([]change, error) {
	if name := c.flags.String("agent"); name != "" {
		return c.planAgent(hook.AgentNamed(name), true)
	}
	version, err := c.gitVersion()
	if err != nil {
		return nil, err
	}
	var plan []change
	if atLeast(version, 2, 54) {
		plan, err = c.installConfig()
	} else {
		plan, err = c.installFiles()
	}
	if err != nil {
		return nil, err
	}
	if c.flags.Bool("push") {
		plan = append(plan, c.settingChange()...)
	}
	return plan, nil
}

// installConfig puts the hooks into git's configuration, and takes blocks out
// that an older git has needed: else they would run twice.
func (c *call) installConfig() ([]change, error) {
	var plan []change
	for _, e := range hook.Events() {
		if !c.configured(e) {
			plan = append(plan, c.configChange(e))
		}
	}
	if c.flags.Bool("global") {
		return plan, nil
	}
	out, err := c.uninstallFiles()
	return append(plan, out...), err
}

// configured reports whether git's configuration has the hook as it should be:
// in the file that is meant, or for all repositories already.
func (c *call) configured(e hook.Event) bool {
	event, command := "", ""
	for _, entry := range c.store.Config() {
		if c.flags.Bool("global") && entry.Scope != "global" {
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
func (c *call) scope() string {
	if c.flags.Bool("global") {
		return "global"
	}
	return "local"
}

func (c *call) configChange(e hook.Event) change {
	section := "hook." + e.ConfigName()
	return change{text: fmt.Sprintf("set %s in git's configuration (%s)", section, c.scope()), do: func() error {
		for _, kv := range [][2]string{{".event", string(e)}, {".command", e.ConfigCommand()}} {
			if err := c.setConfig("--replace-all", section+kv[0], kv[1]); err != nil {
				return err
			}
		}
		return nil
	}}
}

func (c *call) setConfig(args ...string) error {
	_, err := c.store.Git().Output(c.ctx, append([]string{"config", "--" + c.scope()}, args...)...)
	return err
}

const prePushKey = "checkpoint.hooks.pre-push"

// settingChange lets pre-push push, unless it does already.
func (c *call) settingChange() []change {
	if c.settings.String("hooks.pre_push") != "off" {
		return nil
	}
	return []change{{text: fmt.Sprintf("set %s = push (%s)", prePushKey, c.scope()), do: func() error {
		return c.setConfig(prePushKey, "push")
	}}}
}

// installFiles puts the hooks into hook files.
func (c *call) installFiles() ([]change, error) {
	site, err := c.hookSite()
	if err != nil {
		return nil, err
	}
	var plan []change
	for _, e := range hook.Events() {
		ch, err := c.installFile(site, e)
		if err != nil {
			return nil, err
		}
		plan = append(plan, ch...)
		plan = append(plan, c.unsetConfig(e)...)
	}
	return plan, nil
}

// installFile puts one hook into its file.
func (c *call) installFile(site hookSite, e hook.Event) ([]change, error) {
	path := site.file(e)
	shown := c.shownFile(path)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return []change{{"write " + shown, func() error { return createHook(path, hook.File(e, site.style), site.style) }}}, nil
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
		return nil, c.checkRuns(info, site, shown)
	case found == hook.Edited && !c.flags.Bool("force"):
		return nil, c.edited("install", shown)
	case found == hook.Edited:
		rest, _ := hook.Remove(text, e)
		if hook.Find(rest, e) != hook.Absent {
			return nil, fail(exitRefused, "", "hooks: %s: the block's closing mark is missing: take it out by hand", shown)
		}
		text = rest
	}
	if err := c.checkRuns(info, site, shown); err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 || !hook.IsShell(text, site.style) {
		return c.wrapFile(site, e)
	}
	what := "put a block into " + shown
	if m := hook.Manager(text); m == "lefthook" || m == "pre-commit" || m == "overcommit" {
		what += ", which an install of " + m + " takes out again"
	}
	return []change{{what, func() error {
		return replaceFile(path, []byte(hook.Insert(text, e, site.style)), info.Mode().Perm())
	}}}, nil
}

// legacy reports a hook file of pre-commit's that calls the one which it has
// found, and that this has the block.
func legacy(site hookSite, e hook.Event, text string) bool {
	data, err := os.ReadFile(site.renamed(e)[0])
	return err == nil && hook.Manager(text) == "pre-commit" && hook.Find(string(data), e) == hook.Whole
}

func (c *call) edited(verb, shown string) error {
	return fail(exitRefused, "git checkpoint hooks "+verb+" --force", "hooks: %s: its block was edited, or is another version's", shown)
}

// checkRuns refuses a file that git passes over: to make it executable would
// bring a hook back that was switched off.
func (c *call) checkRuns(info fs.FileInfo, site hookSite, shown string) error {
	if site.style.Bare || runtime.GOOS == "windows" || info.Mode()&fs.ModeSymlink != 0 || info.Mode().Perm()&0o111 != 0 {
		return nil
	}
	return fail(exitRefused, "chmod +x "+quoteArg(shown), "hooks: %s is not executable, so git does not run it", shown)
}

// wrapFile moves a file aside that lines cannot be put into, and writes one
// that calls it.
func (c *call) wrapFile(site hookSite, e hook.Event) ([]change, error) {
	path, aside := site.file(e), site.aside(e)
	if _, err := os.Lstat(aside); err == nil {
		return nil, fail(exitRefused, "", "hooks: %s is in the way", c.shownFile(aside))
	}
	return []change{{fmt.Sprintf("move %s to %s and write one that calls it", c.shownFile(path), c.shownFile(aside)), func() error {
		if err := os.MkdirAll(filepath.Dir(aside), 0o777); err != nil {
			return err
		}
		if err := moveHook(path, aside, ".."); err != nil {
			return err
		}
		return createHook(path, hook.Wrapper(e), hook.Style{})
	}}}, nil
}
