// Package install installs hooks for git and agents next to the files of hook managers,
// and uninstalls them byte for byte.
//
// With git 2.54 or later, hooks are entries in git's configuration. With older versions,
// hooks are marked blocks at the top of hook files in .git/hooks, core.hooksPath or
// husky's directory. A non-shell file, such as a Python script, is moved aside and called
// by a wrapper. An agent's hooks are entries in its settings file.
//
// Each install and uninstall is planned before any change. If planning fails, nothing
// changes.
package install

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/fsutil"
)

// A Repo is a repository for the installation of hooks.
type Repo struct {
	Global  bool // install for all repositories of this user
	Allow   bool // also permit an agent to run this program
	Local   bool // use an agent's settings file that is not shared
	Force   bool // also replace or remove edited text
	NoTurns bool // no hook at the end of an agent's turn

	Kept       []view.Kept // copies of changed files that had content
	AgentHooks bool        // a planned change is one of an agent's hooks

	c          *invoke.Invocation
	keptConfig bool
}

// Open returns the open repository of a command.
func Open(c *invoke.Invocation) *Repo { return &Repo{c: c} }

// A HookChange is one step of an install or uninstall.
type HookChange struct {
	Text string // description for users
	Do   func() error
}

// sites returns all directories that may contain installed hooks of this repository,
// because a manager may have been added or removed since. It includes a directory of all
// repositories if wide is true.
func (r *Repo) sites(wide bool) []site {
	sites := []site{{dir: filepath.Join(r.c.Store.CommonDir(), "hooks")}}
	if entry, set := gitstore.LastEntry(r.c.Store.Config(), "core.hookspath"); set && (wide || !everywhere(entry)) {
		if dir, err := r.hooksPath(); err == nil && dir != os.DevNull {
			sites = append(sites, siteAt(dir))
		}
	}
	if root := r.c.Store.Root(); root != "" {
		sites = append(sites, site{dir: filepath.Join(root, ".husky"), style: hook.Style{Bare: true}, manager: "husky"})
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(sites, func(s site) bool {
		again := seen[s.dir]
		seen[s.dir] = true
		return again
	})
}

// A site is a directory with user-written hook files for git or a hook manager.
type site struct {
	dir     string
	style   hook.Style
	manager string // manager that generates the files run by git, or ""
}

// everywhere reports whether a setting applies to all repositories.
func everywhere(e gitstore.ConfigEntry) bool { return e.Scope == "global" || e.Scope == "system" }

// hooksPath returns core.hooksPath, resolved as in git: relative to the worktree root,
// the working directory of hooks.
func (r *Repo) hooksPath() (string, error) {
	path, err := r.c.Store.Git().Line(r.c.Ctx, "config", "--type=path", "--get", "core.hooksPath")
	if err != nil {
		return "", fmt.Errorf("read core.hooksPath: %w", err)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cmp.Or(r.c.Store.Root(), r.c.Store.CommonDir()), path)
	}
	return filepath.Clean(path), nil
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
	entry, set := gitstore.LastEntry(r.c.Store.Config(), "core.hookspath")
	dir, wide := filepath.Join(r.c.Store.CommonDir(), "hooks"), set && everywhere(entry)
	what := r.shownFile(dir)
	if set {
		var err error
		if dir, err = r.hooksPath(); err != nil {
			return site{}, err
		}
		what = "core.hooksPath"
	}
	switch {
	case !set && r.Global:
		hint := "git checkpoint hooks install"
		if r.c.Needs.NoRepository {
			hint = "git checkpoint enable --global # the hooks of agents"
		}
		return site{}, refuse(hint, "--global needs git 2.54 or core.hooksPath in the global configuration")
	case set && (dir == os.DevNull || entry.Value == ""):
		return site{}, refuse("git config --unset core.hooksPath", "core.hooksPath is %s: hooks are switched off", cmp.Or(entry.Value, "empty"))
	case wide && !r.Global:
		return site{}, refuse("git checkpoint hooks install --global", "core.hooksPath is %s in %s: the hooks there are those of every repository", dir, entry.Origin)
	case !wide && r.Global:
		return site{}, refuse("git checkpoint hooks install", "core.hooksPath of this repository is %s: --global would not reach it", dir)
	case !wide && !r.within(dir) && !r.Force:
		real, _ := atomicfile.Resolve(dir)
		return site{}, refuse("git checkpoint hooks install --force", "%s is %s, outside of this repository", what, real)
	}
	return siteAt(dir), nil
}

// refuse returns the error of an install or uninstall that would cause damage.
func refuse(hint, format string, args ...any) error {
	return failure.Errorf(failure.Refused, hint, "hooks: "+format, args...)
}

// Scoped returns a command with the flag of the scope.
func (r *Repo) Scoped(command string) string {
	if r.Global {
		command += " --global"
	}
	return command
}

// forced returns the command that installs or removes with the flag --force.
func (r *Repo) forced(install bool, flags ...string) string {
	verb := "uninstall"
	if install {
		verb = "install"
	}
	return r.Scoped(strings.Join(append([]string{"git checkpoint hooks", verb}, flags...), " ")) + " --force"
}

// within reports whether a path, without its symlinks, belongs to the repository: to a worktree of it, or to
// its git directory.
func (r *Repo) within(path string) bool {
	path, _ = atomicfile.Resolve(path)
	bases := []string{r.c.Store.Root(), r.c.Store.CommonDir()}
	if main, ok := strings.CutSuffix(r.c.Store.CommonDir(), string(filepath.Separator)+".git"); ok {
		bases = append(bases, main) // linked worktrees share files of the main worktree by symlinks
	}
	return slices.ContainsFunc(bases, func(base string) bool {
		real, err := filepath.EvalSymlinks(base)
		if err != nil {
			return false
		}
		rel, err := filepath.Rel(real, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

// configNote is the mark that exists while `git config` runs. A killed `git config` leaves its lock
// file, and all later calls fail. If a lock exists beside a mark for a while, its owner was killed
// together with this program.
const configNote = "before/config-changes"

// runConfig runs git config for the file of the scope.
func (r *Repo) runConfig(args []string) error {
	file, err := atomicfile.Read(r.configFile())
	if err != nil {
		return fmt.Errorf("read git's configuration: %w", err)
	}
	lock, notes := file.Path+".lock", r.c.Store.Notes
	mark := notes.Path(configNote)
	if !r.Global && fsutil.Exists(mark) {
		r.c.Store.ClearLock(lock)
	}
	if !fsutil.Exists(lock) {
		if err := notes.Touch(configNote, time.Now()); err != nil {
			return err
		}
	}
	_, err = r.c.Store.Git().Output(r.c.Ctx, append([]string{"config", "--" + r.scope()}, args...)...)
	if !fsutil.Exists(lock) {
		os.Remove(mark)
		return err
	}
	if err != nil {
		shown := r.shownFile(lock)
		return refuse("rm "+view.Shell(shown)+", if no git runs", "%w: a git that was killed may have left %s", err, shown)
	}
	return nil
}

// shownFile returns a path for messages, relative to the worktree root if inside the
// worktree.
func (r *Repo) shownFile(path string) string {
	if rel, err := filepath.Rel(r.c.Store.Root(), path); r.c.Store.Root() != "" && err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}
