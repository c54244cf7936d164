package install

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/gitstore"
)

// A site is a directory with user-written hook files for git or a hook manager.
type site struct {
	dir     string
	style   hook.Style
	manager string // manager that generates the files run by git, or ""
}

func (s site) file(e hook.Event) string { return filepath.Join(s.dir, string(e)) }

// renamed returns names that managers give to an existing hook file when they install
// their own: pre-commit calls the first name, lefthook only keeps the second.
func (s site) renamed(e hook.Event) []string {
	return []string{s.file(e) + ".legacy", s.file(e) + ".old"}
}

// aside returns the path of the original file that a wrapper calls.
func (s site) aside(e hook.Event) string { return filepath.Join(s.dir, hook.Aside, string(e)) }

// site finds the hook directory. It refuses a directory shared with other repositories
// unless the install is global.
func (r *Repo) site() (site, error) {
	entry, set := gitstore.LastEntry(r.Config, "core.hookspath")
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

// siteAt returns the site of a hook directory, with its manager. Husky 9 or later points
// git to a generated directory, whose files call files in the parent directory with sh
// -e. Husky 8 points git to the parent directory itself.
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

// hooksPath returns core.hooksPath, resolved as in git: relative to the worktree root,
// the working directory of hooks.
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

// everywhere reports whether a setting applies to all repositories.
func everywhere(e gitstore.ConfigEntry) bool { return e.Scope == "global" || e.Scope == "system" }

// within reports whether a directory belongs to the repository.
func (r *Repo) within(dir string) bool {
	for _, base := range []string{r.Root, r.CommonDir} {
		rel, err := filepath.Rel(base, dir)
		if base != "" && err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// sites returns all directories that may contain installed hooks of this repository,
// because a manager may have been added or removed since. It includes a directory of all
// repositories if wide is true.
func (r *Repo) sites(wide bool) []site {
	sites := []site{{dir: filepath.Join(r.CommonDir, "hooks")}}
	if entry, set := gitstore.LastEntry(r.Config, "core.hookspath"); set && (wide || !everywhere(entry)) {
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

// shownFile returns a path for messages, relative to the worktree root if inside the
// worktree.
func (r *Repo) shownFile(path string) string {
	if rel, err := filepath.Rel(r.Root, path); r.Root != "" && err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}
