package install

import (
	"path/filepath"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/hook"
)

// InstallSkill plans to write the skill for agents.
func (r *Repo) InstallSkill() ([]HookChange, error) {
	return r.eachSkill("install", func(f atomicfile.Replacement) *HookChange {
		if f.Text == hook.Skill() {
			return nil
		}
		return &HookChange{"write " + r.shownFile(f.Path), func() error { return r.replace(f, hook.Skill()) }}
	})
}

// UninstallSkill plans to remove the skill for agents.
func (r *Repo) UninstallSkill() ([]HookChange, error) {
	return r.eachSkill("uninstall", func(f atomicfile.Replacement) *HookChange {
		if !f.Exists() {
			return nil
		}
		return &HookChange{"remove " + r.shownFile(f.Path), func() error { return r.removeOwnFile(f, 3) }}
	})
}

// eachSkill plans a change of each file of the skill. It returns an error if a user
// edited a file, unless the change is forced.
func (r *Repo) eachSkill(verb string, change func(atomicfile.Replacement) *HookChange) ([]HookChange, error) {
	files, err := r.readSkills()
	if err != nil {
		return nil, err
	}
	var plan []HookChange
	for _, f := range files {
		if f.Exists() && !hook.SkillMark.IsOwn(f.Text) && !r.Force {
			return nil, refuse("git checkpoint hooks "+verb+" --skill --force", "%s was edited, or another program wrote it", r.shownFile(f.Path))
		}
		if c := change(f); c != nil {
			plan = append(plan, *c)
		}
	}
	return plan, nil
}

// readSkills reads the files of the skill, including missing ones.
func (r *Repo) readSkills() ([]atomicfile.Replacement, error) {
	home, err := r.agentHome()
	if err != nil {
		return nil, err
	}
	var files []atomicfile.Replacement
	for _, name := range hook.SkillFiles() {
		f, err := atomicfile.Read(filepath.Join(home, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// removeOwnFile removes a file that install wrote and its directories, if they are then
// empty. depth limits the number of directories.
func (r *Repo) removeOwnFile(f atomicfile.Replacement, depth int) error {
	f.Force = r.Force
	if err := r.obstacle(r.keep(f, f.Remove)); err != nil {
		return err
	}
	removeEmpty(filepath.Dir(f.Path), depth)
	return nil
}

// Skills returns the installed files of the skill.
func (r *Repo) Skills() ([]string, error) {
	if r.Root == "" && !r.Global {
		return nil, nil
	}
	files, err := r.readSkills()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range files {
		if f.Exists() {
			paths = append(paths, r.shownFile(f.Path))
		}
	}
	return paths, nil
}

// uninstallOwnSkills plans to remove the files of the skill that nobody edited.
func (r *Repo) uninstallOwnSkills() ([]HookChange, error) {
	if r.Root == "" {
		return nil, nil
	}
	files, err := r.readSkills()
	if err != nil {
		return nil, err
	}
	var plan []HookChange
	for _, f := range files {
		switch {
		case hook.SkillMark.IsOwn(f.Text):
			plan = append(plan, HookChange{"remove " + r.shownFile(f.Path), func() error { return r.removeOwnFile(f, 3) }})
		case f.Exists():
			r.Warn("%s was edited, and stays", r.shownFile(f.Path))
		}
	}
	return plan, nil
}
