package install

import (
	"cmp"
	"fmt"
	"os"
	"slices"

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
	version, err := r.Git.Version(r.Context)
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

// find locates an installed hook and runs its canary.
func (r *Repo) find(e hook.Event, version gitstore.GitVersion) Hook {
	if place := r.configPlace(e); place != "" {
		h := Hook{Way: "config", Place: place}
		if !version.AtLeast(2, 54) {
			h.Why = fmt.Sprintf("git %d.%d does not know hooks in its configuration", version[0], version[1])
			return h
		}
		h.Runs, h.Why = r.canary(r.configCanary(e))
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

// configPlace returns the configuration entry of a hook, or "".
func (r *Repo) configPlace(e hook.Event) string {
	for _, entry := range slices.Backward(r.Config) {
		if entry.Key == "hook."+e.ConfigName()+".command" {
			return fmt.Sprintf("hook.%s (%s)", e.ConfigName(), entry.Scope)
		}
	}
	return ""
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
		file, toml, err := r.agentFiles(a)
		if err != nil {
			return nil, err
		}
		if events := a.Installed(file.Text); len(events) > 0 {
			all = append(all, AgentFile{name, r.shownFile(file.Path), events})
		}
		if events := a.InstalledTOML(toml.Text); len(events) > 0 {
			all = append(all, AgentFile{name, r.shownFile(toml.Path), events})
		}
	}
	return all, nil
}
