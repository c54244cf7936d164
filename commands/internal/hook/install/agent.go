package install

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/view"
)

// Agent plans the installation or removal of an agent's hooks. With NoTurns, an installed
// hook of turns is removed. A removal includes the settings file that is not shared.
func (r *Repo) Agent(a *hook.Agent, install bool) ([]HookChange, error) {
	if r.Root == "" && !install && !r.Global {
		return nil, nil
	}
	plan, err := r.agentFile(a, install, r.Local)
	if err != nil || install || r.Global || r.Local || a.Local == "" {
		return plan, err
	}
	more, err := r.agentFile(a, install, true)
	return append(plan, more...), err
}

// agentFile plans the installation or removal of an agent's hooks in one settings file:
// the shared one, or if local is true, the one that is not shared.
func (r *Repo) agentFile(a *hook.Agent, install, local bool) ([]HookChange, error) {
	file, toml, err := r.agentFiles(a, local)
	if err != nil {
		return nil, err
	}
	if a.Plugin != "" {
		return r.ownFile(file, ownFile{a.InstallPlugin(!r.NoTurns), hook.PluginMark, "--agent " + a.Name, 2, nil}, install)
	}
	if !install {
		return r.uninstallAgent(a, file, toml)
	}
	permission, err := r.permission(a, true)
	if err != nil {
		return nil, err
	}
	plan, err := r.installAgent(a, file, toml)
	return append(plan, permission...), err
}

// installAgent plans the installation of hooks in one of both files.
func (r *Repo) installAgent(a *hook.Agent, file, toml atomicfile.Replacement) ([]HookChange, error) {
	inTOML, err := hook.HasTOMLHooks(toml.Text)
	if err != nil {
		return nil, r.settingsError(a, toml, err)
	}
	if inTOML && !file.Exists() {
		text := toml.Text
		if r.NoTurns && slices.Contains(a.InstalledTOML(text), a.TurnEvent()) {
			text, err = a.UninstallTOML(text)
		}
		if err == nil {
			text, err = r.installed(a).InstallTOML(text)
		}
		return r.settingsChange(toml, text, "add hooks to "), r.settingsError(a, toml, err)
	}
	text, err := r.install(a, file)
	if err == nil && r.Allow && a.Allow != nil && a.Allow.Rule != "" {
		text, err = a.Allow.Allow(text)
	}
	return r.settingsChange(file, text, "add hooks to "), r.settingsError(a, file, err)
}

// install returns the text of a settings file with the agent's hooks.
func (r *Repo) install(a *hook.Agent, file atomicfile.Replacement) (string, error) {
	text, exists := file.Text, file.Exists()
	if r.NoTurns && slices.Contains(a.Installed(text), a.TurnEvent()) {
		keepDir, err := r.keepDir()
		if err != nil {
			return "", err
		}
		rest, gone := a.Uninstall(text, atomicfile.Kept(keepDir, file.Path)...)
		text, exists = rest, !gone
	}
	return r.installed(a).Install(text, exists)
}

// installed returns the agent with the events to install.
func (r *Repo) installed(a *hook.Agent) *hook.Agent {
	if r.NoTurns {
		return a.WithoutTurns()
	}
	return a
}

// Manual returns text for manual installation: an agent's settings, or git's hooks if a
// is nil.
func Manual(a *hook.Agent, push, turns bool) (string, error) {
	if a == nil {
		return gitManual(push), nil
	}
	if a.Plugin != "" {
		return fmt.Sprintf("// %s:\n%s", a.File, a.InstallPlugin(turns)), nil
	}
	if !turns {
		a = a.WithoutTurns()
	}
	text, err := a.Install("", false)
	return fmt.Sprintf("# %s:\n%s", a.File, text), err
}

// permission plans to write or remove the file with an agent's permission to run this
// program.
func (r *Repo) permission(a *hook.Agent, install bool) ([]HookChange, error) {
	if a.Allow == nil || a.Allow.File == "" || install && !r.Allow {
		return nil, nil
	}
	home, err := r.agentHome()
	if err != nil {
		return nil, err
	}
	file, err := atomicfile.Read(filepath.Join(home, filepath.FromSlash(a.Allow.File)))
	if err != nil {
		return nil, err
	}
	own := ownFile{hook.PermissionMark.Sign(a.Allow.Text), hook.PermissionMark, "--agent " + a.Name + " --allow", 2, nil}
	if !install {
		own.stays = func(string) {}
	}
	return r.ownFile(file, own, install)
}

// agentFiles reads both files that can contain an agent's hooks. The second is the zero
// value for an agent without a TOML file, and for settings that are not shared.
func (r *Repo) agentFiles(a *hook.Agent, local bool) (file, toml atomicfile.Replacement, err error) {
	home, err := r.agentHome()
	if err != nil {
		return file, toml, err
	}
	name, flag := a.File, ""
	switch {
	case r.Global:
		name, flag = a.Home, "--global"
	case local:
		name, flag = a.Local, "--local"
	}
	if name == "" {
		return file, toml, refuse("git checkpoint hooks install --agent "+a.Name, "%s has no settings file for %s", a.Name, flag)
	}
	if file, err = atomicfile.Read(filepath.Join(home, filepath.FromSlash(name))); err != nil || a.TOML == "" || local {
		return file, toml, err
	}
	toml, err = atomicfile.Read(filepath.Join(home, filepath.FromSlash(a.TOML)))
	return file, toml, err
}

// agentHome returns the parent directory of an agent's files: the worktree root, or with
// --global the user's home directory.
func (r *Repo) agentHome() (string, error) {
	if r.Global {
		return os.UserHomeDir()
	}
	if r.Root == "" {
		return "", refuse("", "without a worktree there is no place for an agent's settings: use --global")
	}
	return r.Root, nil
}

// AgentsHere returns the agents that this user or project uses: the program is on PATH, or
// a directory for settings exists.
func (r *Repo) AgentsHere() ([]*hook.Agent, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	var here []*hook.Agent
	for _, name := range hook.Agents() {
		a := hook.AgentNamed(name)
		_, err := exec.LookPath(a.Program)
		used := err == nil || a.Home != "" && isFolder(filepath.Join(home, filepath.FromSlash(path.Dir(a.Home))))
		if r.Root != "" && !strings.HasPrefix(a.File, ".github/") && !strings.HasPrefix(a.File, ".agents/") {
			dir, _, _ := strings.Cut(a.File, "/")
			used = used || isFolder(filepath.Join(r.Root, dir))
		}
		if used && (!r.Global || a.Home != "") && (!r.Local || a.Local != "") {
			here = append(here, a)
		}
	}
	return here, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// uninstallAgent plans the removal of hooks from both files. Kept copies show which
// objects and arrays existed before the install.
func (r *Repo) uninstallAgent(a *hook.Agent, file, toml atomicfile.Replacement) ([]HookChange, error) {
	if err := a.Check(file.Text); err != nil {
		return nil, r.settingsError(a, file, err)
	}
	keepDir, err := r.keepDir()
	if err != nil {
		return nil, err
	}
	before := atomicfile.Kept(keepDir, file.Path)
	text := file.Text
	if a.Allow != nil && a.Allow.Rule != "" {
		text = a.Allow.Disallow(text, a, before...)
	}
	text, gone := a.Uninstall(text, before...)
	plan := r.settingsChange(file, text, "take hooks out of ")
	if gone { // the file was created for the hooks
		plan = []HookChange{{"take hooks out of " + r.shownFile(file.Path), func() error {
			err := file.Remove()
			if err == nil {
				removeEmpty(filepath.Dir(file.Path), 2)
			}
			return err
		}}}
	}
	if text, err = a.UninstallTOML(toml.Text); err != nil {
		return nil, r.settingsError(a, toml, err)
	}
	plan = append(plan, r.settingsChange(toml, text, "take hooks out of ")...)
	permission, err := r.permission(a, false)
	return append(plan, permission...), err
}

func (r *Repo) settingsError(a *hook.Agent, f atomicfile.Replacement, err error) error {
	if err == nil {
		return nil
	}
	return &SettingsError{a.Name, r.shownFile(f.Path), err}
}

func (r *Repo) settingsChange(f atomicfile.Replacement, text, what string) []HookChange {
	if text == f.Text {
		return nil
	}
	return []HookChange{{what + r.shownFile(f.Path), func() error { return r.replace(f, text) }}}
}

// removeEmpty removes a directory and its parents, at most n in all, if they are empty.
func removeEmpty(dir string, n int) {
	for range n {
		if os.Remove(dir) != nil { // not empty
			return
		}
		dir = filepath.Dir(dir)
	}
}

func gitManual(push bool) string {
	var b strings.Builder
	b.WriteString("# git 2.54 or newer:\n")
	for _, e := range hook.Events() {
		section := "hook." + e.ConfigName()
		fmt.Fprintf(&b, "git config %s.event %s\n", section, e)
		fmt.Fprintf(&b, "git config %s.command %s\n", section, view.Shell(e.ConfigCommand()))
	}
	if push {
		fmt.Fprintf(&b, "# pre-push also pushes checkpoints:\ngit config %s push\n", prePushKey)
	}
	for _, e := range hook.Events() {
		fmt.Fprintf(&b, "\n# %s in .git/hooks or .husky, at its top:\n%s", e, e.Snippet())
	}
	b.WriteString(managersManual)
	return b.String()
}

const managersManual = `
# lefthook.yml or lefthook-local.yml:
pre-push:
  commands:
    git-checkpoint:
      run: command -v git-checkpoint >/dev/null 2>&1 || exit 0; git-checkpoint hook pre-push -- {0}
      use_stdin: true
post-checkout:
  commands:
    git-checkpoint:
      run: command -v git-checkpoint >/dev/null 2>&1 || exit 0; git-checkpoint hook post-checkout -- {0}

# .pre-commit-config.yaml, whose pre-push hooks get the ref in the environment:
repos:
  - repo: local
    hooks:
      - id: git-checkpoint
        name: git-checkpoint
        entry: >-
          sh -c 'command -v git-checkpoint >/dev/null 2>&1 || exit 0;
          echo "$PRE_COMMIT_LOCAL_BRANCH $(git rev-parse "$PRE_COMMIT_LOCAL_BRANCH") $PRE_COMMIT_REMOTE_BRANCH 0000000000000000000000000000000000000000" |
          git-checkpoint hook pre-push -- "$PRE_COMMIT_REMOTE_NAME" "$PRE_COMMIT_REMOTE_URL"'
        language: system
        stages: [pre-push]
        always_run: true
        pass_filenames: false
`
