package install

import (
	"path/filepath"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/hook"
)

// Skill plans to write or remove the files of the skill for agents.
func (r *Repo) Skill(install bool) (plan []HookChange, err error) {
	files, err := r.readSkills()
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		more, err := r.ownFile(f, ownFile{hook.Skill(), hook.SkillMark, "--skill", 3}, install)
		if err != nil {
			return nil, err
		}
		plan = append(plan, more...)
	}
	return plan, nil
}

// An ownFile describes a file that install writes as a whole: a plugin, a permission or a file
// of the skill.
type ownFile struct {
	text    string
	mark    hook.Mark
	flags   string // flags of hooks install that write the file
	folders int    // number of its folders that are removed with it if they are empty
}

// ownFile plans to write or remove a file that install writes as a whole. It returns an error if
// a user edited the file, unless the change is forced.
func (r *Repo) ownFile(f atomicfile.Replacement, o ownFile, install bool) ([]HookChange, error) {
	shown, edited, verb := r.shownFile(f.Path), f.Exists() && !o.mark.IsOwn(f.Text), "uninstall"
	if install {
		verb = "install"
	}
	switch {
	case edited && r.keepEdited:
		r.c.Warnf("%s was edited, and stays", shown)
	case edited && !r.Force:
		return nil, refuse("git checkpoint hooks "+verb+" "+o.flags+" --force", "%s was edited, or another program wrote it", shown)
	case install && f.Text != o.text:
		return []HookChange{{"write " + shown, func() error { return r.replace(f, o.text) }}}, nil
	case !install && f.Exists():
		return []HookChange{{"remove " + shown, func() error {
			err := r.keep(f, f.Remove)
			if err == nil {
				removeEmpty(filepath.Dir(f.Path), o.folders)
			}
			return err
		}}}, nil
	}
	return nil, nil
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

// Skills returns the installed files of the skill.
func (r *Repo) Skills() ([]string, error) {
	if r.c.Store.Root() == "" && !r.Global {
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
