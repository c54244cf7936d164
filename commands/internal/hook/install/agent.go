package install

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore/failure"
)

// Plan adds the installation or removal of the hooks of agents, and of the skill, to a plan. With NoTurns,
// an installed hook of turns is removed. A removal includes the settings files that are not shared.
//
// If there are several agents, a file that cannot be changed stays, with a warning and the command that
// changes it. Plan fails if all files of an installation stay, or if only damaged files would be left.
func (r *Repo) Plan(plan []HookChange, agents []*hook.Agent, skill, install bool) ([]HookChange, error) {
	var stays []error
	add := func(more []HookChange, err error) error {
		plan = append(plan, more...)
		if err != nil && len(agents) > 1 {
			stays, err = append(stays, err), nil
		}
		return err
	}
	for _, a := range agents {
		places := []bool{r.Local}
		if !install && !r.Global && !r.Local && a.Local != "" {
			places = []bool{false, true}
		}
		for _, local := range places {
			more, refused := r.agentFile(a, install, local)
			r.AgentHooks = r.AgentHooks || len(more) > 0
			err := add(more, refused)
			if refused == nil && a.Plugin == "" {
				err = add(r.permission(a, install))
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if skill {
		files, err := r.readSkills()
		for _, f := range files {
			err = cmp.Or(err, add(r.ownFile(f, ownFile{hook.Skill(), hook.SkillMark, "--skill"}, install)))
		}
		if err != nil {
			return nil, err
		}
	}
	for _, err := range stays {
		why := failure.Classify(err)
		if len(plan) == 0 && (why.Code == failure.Usage || install && len(stays) >= len(agents)) {
			return nil, err
		}
		r.c.Warnf("%s, and stays", strings.TrimSuffix(strings.TrimPrefix(why.Error(), "hooks: "), byOther))
		if why.Hint != "" {
			r.c.Infof("hint: %s", why.Hint)
		}
	}
	return plan, nil
}

// agentFile plans the installation or removal of an agent's hooks in one settings file:
// the shared one, or if local is true, the one that is not shared.
func (r *Repo) agentFile(a *hook.Agent, install, local bool) ([]HookChange, error) {
	file, err := r.settingsFile(a, local)
	switch {
	case err != nil:
		return nil, err
	case a.Plugin != "":
		return r.ownFile(file, ownFile{a.InstallPlugin(!r.NoTurns), hook.PluginMark, r.flags(a, install)}, install)
	case install:
		return r.installAgent(a, file)
	}
	return r.uninstallAgent(a, file)
}

// flags returns the flags of hooks that choose an agent and its file.
func (r *Repo) flags(a *hook.Agent, install bool) string {
	flags := "--agent " + a.Name
	for _, f := range []struct {
		set  bool
		flag string
	}{{r.Local, " --local"}, {install && r.Allow && a.Allow != nil, " --allow"}, {install && r.NoTurns, " --no-turns"}} {
		if f.set {
			flags += f.flag
		}
	}
	return flags
}

// installAgent plans the installation of hooks in a settings file.
func (r *Repo) installAgent(a *hook.Agent, file atomicfile.Replacement) ([]HookChange, error) {
	text, exists, installed := file.Text, file.Exists(), a
	if r.NoTurns {
		installed = a.WithoutTurns()
		if len(a.Installed(text)) > len(installed.Installed(text)) {
			keepDir, err := r.keepDir()
			if err != nil {
				return nil, err
			}
			rest, gone := a.Uninstall(text, atomicfile.Kept(keepDir, file.Path)...)
			text, exists = rest, !gone
		}
	}
	text, err := installed.Install(text, exists)
	if err == nil && r.Allow && a.Allow != nil && a.Allow.Rule != "" {
		text, err = a.Allow.Allow(text)
	}
	if err != nil {
		return nil, failure.Errorf(failure.Usage, "git checkpoint hooks install --manual --agent "+a.Name, "hooks: %s: %w", r.shownFile(file.Path), err)
	}
	if text == file.Text {
		return nil, nil
	}
	return r.change(file, r.forced(true, r.flags(a, true)), "add hooks to ", func() error { return r.replace(file, text) })
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
	file, err := r.read(a, a.Allow.File)
	if err != nil {
		return nil, err
	}
	if !install && file.Exists() && !hook.PermissionMark.IsOwn(file.Text) {
		return nil, nil // a user edited it
	}
	return r.ownFile(file, ownFile{hook.PermissionMark.Sign(a.Allow.Text), hook.PermissionMark, r.flags(a, install)}, install)
}

// settingsFile reads the file with an agent's hooks.
func (r *Repo) settingsFile(a *hook.Agent, local bool) (file atomicfile.Replacement, err error) {
	name, flag := a.File, ""
	switch {
	case r.Global:
		name, flag = a.Home, "--global"
	case local:
		name, flag = a.Local, "--local"
	}
	if name == "" {
		return file, refuse("git checkpoint hooks install --agent "+a.Name, "%s has no settings file for %s", a.Name, flag)
	}
	return r.read(a, name)
}

// read reads a file of an agent: in the worktree, or with --global where the agent reads the files of
// the user.
func (r *Repo) read(a *hook.Agent, name string) (file atomicfile.Replacement, err error) {
	path := filepath.Join(r.c.Store.Root(), filepath.FromSlash(name))
	if r.Global {
		home, err := os.UserHomeDir()
		if err == nil {
			path, err = a.UserFile(home, name, r.c.Env.Getenv)
		}
		if err != nil {
			return file, failure.Errorf(failure.Usage, "", "hooks: %w", err)
		}
	} else if r.c.Store.Root() == "" {
		return file, refuse("", "without a worktree there is no place for an agent's settings: use --global")
	}
	return atomicfile.Read(path)
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
		file, err := a.UserFile(home, a.Home, r.c.Env.Getenv)
		used := err == nil && a.Home != "" && isFolder(filepath.Dir(file))
		if _, err := exec.LookPath(a.Program); err == nil {
			used = true
		}
		if r.c.Store.Root() != "" && !strings.HasPrefix(a.File, ".github/") && !strings.HasPrefix(a.File, ".agents/") {
			dir, _, _ := strings.Cut(a.File, "/")
			used = used || isFolder(filepath.Join(r.c.Store.Root(), dir))
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

// uninstallAgent plans the removal of hooks from a settings file. Kept copies show which
// objects and arrays existed before the install.
func (r *Repo) uninstallAgent(a *hook.Agent, file atomicfile.Replacement) ([]HookChange, error) {
	if err := a.Check(file.Text); err != nil && hook.Mentions(file.Text) {
		return nil, failure.Errorf(failure.Usage, r.Scoped("git checkpoint hooks uninstall "+r.flags(a, false))+" # when the file is valid again", "hooks: %s: %w", r.shownFile(file.Path), err)
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
	if text == file.Text && !gone {
		return nil, nil
	}
	return r.change(file, r.forced(false, r.flags(a, false)), "take hooks out of ", func() error {
		if !gone {
			return r.replace(file, text)
		}
		err := file.Remove() // it was created for the hooks
		if err == nil {
			r.removeFolders(filepath.Dir(file.Path))
		}
		return err
	})
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
