package install

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
)

// Status finds each installed hook, and lets git run it as a canary.
func (r *Repo) Status() ([]view.Hook, error) {
	version, err := gitstore.InstalledGitVersion()
	if err != nil {
		return nil, err
	}
	var hooks []view.Hook
	for _, e := range hook.Events() {
		found := r.find(e, version)
		found.Event, found.Setting = string(e), r.c.Settings.String("hooks."+strings.ReplaceAll(string(e), "-", "_"))
		hooks = append(hooks, found)
	}
	return hooks, nil
}

// EveryAgent returns the settings files of agents in the worktree and in the user's home directory that
// have hooks, or are damaged.
func (r *Repo) EveryAgent() ([]view.Agent, error) {
	all, err := r.Agents()
	if err == nil && !r.Global {
		user := *r
		user.Global = true
		global, _ := user.Agents() // there may be no home directory
		all = append(all, global...)
	}
	return all, err
}

// Agents returns the settings files of this scope that have hooks, or are damaged.
func (r *Repo) Agents() (all []view.Agent, err error) {
	if r.c.Store.Root() == "" && !r.Global {
		return nil, nil
	}
	for _, name := range hook.Agents() {
		a := hook.AgentNamed(name)
		for _, local := range []bool{false, true} {
			if r.Global && (local || a.Home == "") || local && a.Local == "" {
				continue
			}
			file, err := r.settingsFile(a, local)
			if err == nil {
				err = a.Check(file.Text)
			}
			found := view.Agent{Agent: a.Name, Path: r.shownFile(cmp.Or(file.Path, a.Home)), Events: a.Installed(file.Text), Off: r.switchedOff(a)}
			if a.Plugin != "" && file.Exists() {
				found.Events = []string{"plugin"}
				if !hook.PluginMark.IsOwn(file.Text) {
					found.Off = "it was edited, or another program wrote it"
				}
			}
			if err != nil {
				found.Off = "it cannot be read: " + err.Error()
			}
			if err != nil || len(found.Events) > 0 {
				all = append(all, found)
			}
		}
	}
	return all, nil
}

// switchedOff returns why an agent runs no hooks, or "".
func (r *Repo) switchedOff(a *hook.Agent) string {
	if !r.c.Settings.Bool("enabled") {
		return "the setting enabled is false, and they save nothing"
	}
	paths := map[string]string{}
	setting, file := a.SwitchedOff(func(name string) string {
		path := name
		if below, ok := strings.CutPrefix(name, "~/"); ok {
			home, _ := os.UserHomeDir()
			path, _ = a.UserFile(home, below, r.c.Env.Getenv)
		} else if !strings.ContainsAny(name[:2], "/:") {
			path = filepath.Join(r.c.Store.Root(), filepath.FromSlash(name))
		}
		paths[name] = path
		f, _ := atomicfile.Read(path) // a file that cannot be read switches nothing off
		return f.Text
	})
	if setting == "" {
		return ""
	}
	return fmt.Sprintf("%s in %s switches them off", setting, r.shownFile(paths[file]))
}

// CanaryVariable is the environment variable of a canary run. A hook with this variable
// prints its value and does nothing else.
const CanaryVariable = "GIT_CHECKPOINT_CANARY"

// find locates an installed hook and runs its canary.
func (r *Repo) find(e hook.Event, version gitstore.GitVersion) view.Hook {
	for _, entry := range slices.Backward(r.c.Store.Config()) {
		if entry.Key != "hook."+e.ConfigName()+".command" {
			continue
		}
		h := view.Hook{Way: "config", Place: fmt.Sprintf("hook.%s (%s)", e.ConfigName(), entry.Scope)}
		if !version.AtLeast(2, 54) {
			h.Why = fmt.Sprintf("git %d.%d does not know hooks in its configuration", version[0], version[1])
			return h
		}
		// without other configured hooks and hook files
		args := append([]string{"git", "-c", "core.hooksPath=" + os.DevNull}, r.silencing("hook."+e.ConfigName())...)
		h.Runs, h.Why = r.canary(append(args, "hook", "run", string(e), "--", "canary", "canary"))
		return h
	}
	for _, site := range r.sites(true) {
		data, err := os.ReadFile(site.file(e))
		if err == nil && legacy(site, e, string(data)) {
			path := site.renamed(e)[0]
			h := view.Hook{Way: "file", Place: r.shownFile(path), Manager: "pre-commit"}
			h.Runs, h.Why = r.canary([]string{path, "canary", "canary"}) // pre-commit calls this file before its own hooks
			return h
		}
		if err != nil || hook.Find(string(data), e) == hook.Absent {
			continue
		}
		h := view.Hook{Way: "file", Place: r.shownFile(site.file(e)), Manager: cmp.Or(site.manager, hook.Manager(string(data)))}
		if !hook.OnTop(string(data), e) {
			h.Why = "the block is not at the top of the file"
			return h
		}
		h.Runs, h.Why = r.canary(r.fileCanary(e, version))
		return h
	}
	return view.Hook{}
}

// canary runs a command and reports whether this program's hook printed the canary word.
func (r *Repo) canary(argv []string) (runs bool, why string) {
	ctx, cancel := context.WithTimeout(r.c.Ctx, 10*time.Second)
	defer cancel()
	word := rand.Text()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = cmp.Or(r.c.Store.Root(), r.c.Store.CommonDir())
	cmd.Env = append(os.Environ(), CanaryVariable+"="+word, "LC_ALL=C")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case strings.Contains(string(out), word):
		return true, ""
	case err != nil:
		return false, fmt.Sprintf("%v: %s", err, strings.TrimSpace(string(out)))
	}
	return false, cmp.Or(strings.TrimSpace(string(out)), "git ran nothing of ours; is git-checkpoint on PATH?")
}

// silencing returns flags that disable all hooks in git's configuration except one.
func (r *Repo) silencing(but string) []string {
	var flags []string
	for _, entry := range r.c.Store.Config() {
		section, ok := strings.CutSuffix(entry.Key, ".event")
		if ok && strings.HasPrefix(section, "hook.") && section != but {
			flags = append(flags, "-c", section+".enabled=false")
		}
	}
	return flags
}

// fileCanary returns the command that runs the hook file, with `git hook run` if git
// supports it. The block at the top of the file ends a canary run.
func (r *Repo) fileCanary(e hook.Event, version gitstore.GitVersion) []string {
	if version.AtLeast(2, 36) {
		return append(append([]string{"git"}, r.silencing("")...), "hook", "run", string(e), "--", "canary", "canary")
	}
	dir := filepath.Join(r.c.Store.CommonDir(), "hooks")
	if path, err := r.hooksPath(); err == nil {
		dir = path
	}
	return []string{filepath.Join(dir, string(e)), "canary", "canary"}
}
