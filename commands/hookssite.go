package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/commands/config"
	"git-checkpoint/commands/hook"
)

// A hookSite is the folder where git, or a hook manager, looks for hook files
// that a person may write.
type hookSite struct {
	dir     string
	style   hook.Style
	manager string // which generates the files that git runs, "" for none
}

// file is the hook file of an event.
func (s hookSite) file(e hook.Event) string { return filepath.Join(s.dir, string(e)) }

// renamed are the names that managers give to a hook file that stood where
// theirs comes to stand: pre-commit calls the first, lefthook keeps the second.
func (s hookSite) renamed(e hook.Event) []string {
	return []string{s.file(e) + ".legacy", s.file(e) + ".old"}
}

// aside is where a file goes that a wrapper calls.
func (s hookSite) aside(e hook.Event) string { return filepath.Join(s.dir, hook.Aside, string(e)) }

// hookSite finds the folder. It refuses one that is shared with other
// repositories, unless it is to be for all of them.
func (c *call) hookSite() (hookSite, error) {
	entry, set := lastEntry(c.store.Config(), "core.hookspath")
	own := hookSite{dir: filepath.Join(c.store.CommonDir(), "hooks")}
	if !set {
		if c.flags.Bool("global") {
			return own, fail(exitRefused, "git checkpoint hooks install", "hooks: --global needs git 2.54 or core.hooksPath in the global configuration")
		}
		return own, nil
	}
	dir, err := c.hooksPath()
	if err != nil {
		return own, err
	}
	wide := everywhere(entry)
	switch {
	case dir == os.DevNull || entry.Value == "":
		return own, fail(exitRefused, "git config --unset core.hooksPath", "hooks: core.hooksPath is %s: hooks are switched off", first(entry.Value, "empty"))
	case wide && !c.flags.Bool("global"):
		return own, fail(exitRefused, "git checkpoint hooks install --global", "hooks: core.hooksPath is %s in %s: the hooks there are those of every repository", dir, entry.Origin)
	case !wide && c.flags.Bool("global"):
		return own, fail(exitRefused, "git checkpoint hooks install", "hooks: core.hooksPath of this repository is %s: --global would not reach it", dir)
	case !wide && !c.within(dir) && !c.flags.Bool("force"):
		return own, fail(exitRefused, "git checkpoint hooks install --force", "hooks: core.hooksPath is %s, outside of this repository", dir)
	}
	return siteAt(dir), nil
}

// siteAt looks who owns a folder. Husky from version 9 lets git look in a
// folder that it generates, whose files call those above it with sh -e;
// version 8 lets git look in that one.
func siteAt(dir string) hookSite {
	above := filepath.Dir(dir)
	switch {
	case filepath.Base(dir) == "_" && isFile(filepath.Join(dir, "h")):
		return hookSite{dir: above, style: hook.Style{Bare: true}, manager: "husky"}
	case isFile(filepath.Join(dir, "_", "husky.sh")):
		return hookSite{dir: dir, manager: "husky"}
	}
	return hookSite{dir: dir}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// hooksPath is core.hooksPath as git resolves it: from the root of the
// worktree, where hooks run.
func (c *call) hooksPath() (string, error) {
	path, err := c.store.Git().Line(c.ctx, "config", "--type=path", "--get", "core.hooksPath")
	if err != nil {
		return "", fmt.Errorf("read core.hooksPath: %w", err)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(first(c.store.Root(), c.store.CommonDir()), path)
	}
	return filepath.Clean(path), nil
}

// everywhere reports a setting of all repositories.
func everywhere(e config.GitEntry) bool { return e.Scope == "global" || e.Scope == "system" }

// within reports whether a folder belongs to the repository.
func (c *call) within(dir string) bool {
	for _, base := range []string{c.store.Root(), c.store.CommonDir()} {
		rel, err := filepath.Rel(base, dir)
		if base != "" && err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// hookSites are all folders where hooks of this repository may have been
// installed: a manager may have come since, or gone. One of all repositories
// is among them where wide says so.
func (c *call) hookSites(wide bool) []hookSite {
	sites := []hookSite{{dir: filepath.Join(c.store.CommonDir(), "hooks")}}
	if entry, set := lastEntry(c.store.Config(), "core.hookspath"); set && (wide || !everywhere(entry)) {
		if dir, err := c.hooksPath(); err == nil && dir != os.DevNull {
			sites = append(sites, siteAt(dir))
		}
	}
	if root := c.store.Root(); root != "" {
		sites = append(sites, hookSite{dir: filepath.Join(root, ".husky"), style: hook.Style{Bare: true}, manager: "husky"})
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(sites, func(s hookSite) bool {
		again := seen[s.dir]
		seen[s.dir] = true
		return again
	})
}

func lastEntry(entries []config.GitEntry, key string) (config.GitEntry, bool) {
	for _, e := range slices.Backward(entries) {
		if e.Key == key {
			return e, true
		}
	}
	return config.GitEntry{}, false
}

// gitVersion is git's, as {2, 54}.
func (c *call) gitVersion() ([2]int, error) {
	line, err := c.store.Git().Line(c.ctx, "version")
	if err != nil {
		return [2]int{}, err
	}
	return parseGitVersion(line)
}

func parseGitVersion(line string) (v [2]int, err error) {
	words := strings.Fields(line)
	if len(words) < 3 {
		return v, fmt.Errorf("git version: %q", line)
	}
	parts := strings.SplitN(words[2], ".", 3)
	for i := range v {
		if i >= len(parts) {
			break
		}
		digits := parts[i]
		if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
			digits = digits[:end]
		}
		if v[i], err = strconv.Atoi(digits); err != nil {
			return v, fmt.Errorf("git version: %q", line)
		}
	}
	return v, nil
}

func atLeast(v [2]int, major, minor int) bool {
	return v[0] > major || v[0] == major && v[1] >= minor
}

// shownFile is a path for a message, relative to the worktree's root where it
// is below it.
func (c *call) shownFile(path string) string {
	if rel, err := filepath.Rel(c.store.Root(), path); c.store.Root() != "" && err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}
