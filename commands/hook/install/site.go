package install

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"git-checkpoint/commands/hook"
	"git-checkpoint/gitstore/gitcmd"
)

// A site is the folder where git, or a hook manager, looks for hook files
// that a person may write.
type site struct {
	dir     string
	style   hook.Style
	manager string // which generates the files that git runs, "" for none
}

// file is the hook file of an event.
func (s site) file(e hook.Event) string { return filepath.Join(s.dir, string(e)) }

// renamed are the names that managers give to a hook file that stood where
// theirs comes to stand: pre-commit calls the first, lefthook keeps the second.
func (s site) renamed(e hook.Event) []string {
	return []string{s.file(e) + ".legacy", s.file(e) + ".old"}
}

// aside is where a file goes that a wrapper calls.
func (s site) aside(e hook.Event) string { return filepath.Join(s.dir, hook.Aside, string(e)) }

// site finds the folder. It refuses one that is shared with other
// repositories, unless it is to be for all of them.
func (r *Repo) site() (site, error) {
	entry, set := gitcmd.LastEntry(r.Config, "core.hookspath")
	own := site{dir: filepath.Join(r.CommonDir, "hooks")}
	if !set {
		if r.Global {
			return own, refuse("git checkpoint hooks install", "--global needs git 2.54 or core.hooksPath in the global configuration")
		}
		return own, nil
	}
	dir, err := r.hooksPath()
	if err != nil {
		return own, err
	}
	wide := everywhere(entry)
	switch {
	case dir == os.DevNull || entry.Value == "":
		return own, refuse("git config --unset core.hooksPath", "core.hooksPath is %s: hooks are switched off", cmp.Or(entry.Value, "empty"))
	case wide && !r.Global:
		return own, refuse("git checkpoint hooks install --global", "core.hooksPath is %s in %s: the hooks there are those of every repository", dir, entry.Origin)
	case !wide && r.Global:
		return own, refuse("git checkpoint hooks install", "core.hooksPath of this repository is %s: --global would not reach it", dir)
	case !wide && !r.within(dir) && !r.Force:
		return own, refuse("git checkpoint hooks install --force", "core.hooksPath is %s, outside of this repository", dir)
	}
	return siteAt(dir), nil
}

// siteAt looks who owns a folder. Husky from version 9 lets git look in a
// folder that it generates, whose files call those above it with sh -e;
// version 8 lets git look in that one.
func siteAt(dir string) site {
	above := filepath.Dir(dir)
	switch {
	case filepath.Base(dir) == "_" && isFile(filepath.Join(dir, "h")):
		return site{dir: above, style: hook.Style{Bare: true}, manager: "husky"}
	case isFile(filepath.Join(dir, "_", "husky.sh")):
		return site{dir: dir, manager: "husky"}
	}
	return site{dir: dir}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// hooksPath is core.hooksPath as git resolves it: from the root of the
// worktree, where hooks run.
func (r *Repo) hooksPath() (string, error) {
	path, err := r.Git.Line(r.Context, "config", "--type=path", "--get", "core.hooksPath")
	if err != nil {
		return "", fmt.Errorf("read core.hooksPath: %w", err)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cmp.Or(r.Root, r.CommonDir), path)
	}
	return filepath.Clean(path), nil
}

// everywhere reports a setting of all repositories.
func everywhere(e gitcmd.ConfigEntry) bool { return e.Scope == "global" || e.Scope == "system" }

// within reports whether a folder belongs to the repository.
func (r *Repo) within(dir string) bool {
	for _, base := range []string{r.Root, r.CommonDir} {
		rel, err := filepath.Rel(base, dir)
		if base != "" && err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// sites are all folders where hooks of this repository may have been
// installed: a manager may have come since, or gone. One of all repositories
// is among them where wide says so.
func (r *Repo) sites(wide bool) []site {
	sites := []site{{dir: filepath.Join(r.CommonDir, "hooks")}}
	if entry, set := gitcmd.LastEntry(r.Config, "core.hookspath"); set && (wide || !everywhere(entry)) {
		if dir, err := r.hooksPath(); err == nil && dir != os.DevNull {
			sites = append(sites, siteAt(dir))
		}
	}
	if root := r.Root; root != "" {
		sites = append(sites, site{dir: filepath.Join(root, ".husky"), style: hook.Style{Bare: true}, manager: "husky"})
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(sites, func(s site) bool {
		again := seen[s.dir]
		seen[s.dir] = true
		return again
	})
}

// shownFile is a path for a message, relative to the worktree's root where it
// is below it.
func (r *Repo) shownFile(path string) string {
	if rel, err := filepath.Rel(r.Root, path); r.Root != "" && err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}
