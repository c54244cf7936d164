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

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/gitstore"
)

// A Hook is the installation state of one of git's hooks. Way is "config", "file", or ""
// if not installed. Runs reports whether the canary ran; otherwise Why is the reason.
type Hook struct {
	Event   hook.Event
	Way     string
	Place   string
	Manager string // manager that also uses the file, or ""
	Runs    bool
	Why     string
}

// Status finds each installed hook and lets git run it as a canary.
func (r *Repo) Status() ([]Hook, error) {
	version, err := gitstore.InstalledGitVersion()
	if err != nil {
		return nil, err
	}
	var hooks []Hook
	for _, e := range hook.Events() {
		found := r.find(e, version)
		found.Event = e
		hooks = append(hooks, found)
	}
	return hooks, nil
}

// An AgentFile is an agent's settings file with hooks of this program.
type AgentFile struct {
	Agent, Path string
	Events      []string
}

// Agents returns the agents with installed hooks.
func (r *Repo) Agents() ([]AgentFile, error) {
	if r.Root == "" && !r.Global {
		return nil, nil
	}
	var all []AgentFile
	for _, name := range hook.Agents() {
		a := hook.AgentNamed(name)
		for _, local := range []bool{false, true} {
			if r.Global && (local || a.Home == "") || local && a.Local == "" {
				continue
			}
			found, err := r.installedFor(a, local)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

// installedFor returns the files that have hooks of an agent.
func (r *Repo) installedFor(a *hook.Agent, local bool) ([]AgentFile, error) {
	file, toml, err := r.agentFiles(a, local)
	if err != nil {
		return nil, err
	}
	var found []AgentFile
	switch events := a.Installed(file.Text); {
	case a.Plugin != "" && file.Exists():
		found = append(found, AgentFile{a.Name, r.shownFile(file.Path), []string{"plugin"}})
	case len(events) > 0:
		found = append(found, AgentFile{a.Name, r.shownFile(file.Path), events})
	}
	if events := a.InstalledTOML(toml.Text); len(events) > 0 {
		found = append(found, AgentFile{a.Name, r.shownFile(toml.Path), events})
	}
	return found, nil
}

// CanaryVariable is the environment variable of a canary run. A hook with this variable
// prints its value and does nothing else.
const CanaryVariable = "GIT_CHECKPOINT_CANARY"

// find locates an installed hook and runs its canary.
func (r *Repo) find(e hook.Event, version gitstore.GitVersion) Hook {
	for _, entry := range slices.Backward(r.Config) {
		if entry.Key != "hook."+e.ConfigName()+".command" {
			continue
		}
		h := Hook{Way: "config", Place: fmt.Sprintf("hook.%s (%s)", e.ConfigName(), entry.Scope)}
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
			h := Hook{Way: "file", Place: r.shownFile(path), Manager: "pre-commit"}
			h.Runs, h.Why = r.canary([]string{path, "canary", "canary"}) // pre-commit calls this file before its own hooks
			return h
		}
		if err != nil || hook.Find(string(data), e) == hook.Absent {
			continue
		}
		h := Hook{Way: "file", Place: r.shownFile(site.file(e)), Manager: cmp.Or(site.manager, hook.Manager(string(data)))}
		if !hook.OnTop(string(data), e) {
			h.Why = "the block is not at the top of the file"
			return h
		}
		h.Runs, h.Why = r.canary(r.fileCanary(e, version))
		return h
	}
	return Hook{}
}

// canary runs a command and reports whether this program's hook printed the canary word.
func (r *Repo) canary(argv []string) (runs bool, why string) {
	ctx, cancel := context.WithTimeout(r.Context, 10*time.Second)
	defer cancel()
	word := rand.Text()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = cmp.Or(r.Root, r.CommonDir)
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
	for _, entry := range r.Config {
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
	dir := filepath.Join(r.CommonDir, "hooks")
	if path, err := r.hooksPath(); err == nil {
		dir = path
	}
	return []string{filepath.Join(dir, string(e)), "canary", "canary"}
}
