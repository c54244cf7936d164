package install

import (
	"path/filepath"
	"slices"

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
		more, err := r.ownFile(f, ownFile{hook.Skill(), hook.SkillMark, "--skill"}, install)
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
	text  string
	mark  hook.Mark
	flags string // flags of hooks install that write the file
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
		return r.change(f, "install "+o.flags, "write ", func() error { return r.replace(f, o.text) })
	case !install && f.Exists():
		return r.change(f, "uninstall "+o.flags, "remove ", func() error {
			err := r.keep(f, f.Remove)
			if err == nil {
				r.removeFolders(filepath.Dir(f.Path))
			}
			return err
		})
	}
	return nil, nil
}

// readSkills reads the files of the skill, including missing ones.
func (r *Repo) readSkills() ([]atomicfile.Replacement, error) {
	var files []atomicfile.Replacement
	for _, name := range hook.SkillFiles() {
		f, err := r.read(hook.AgentNamed("claude"), name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(files, func(other atomicfile.Replacement) bool { return other.Path == f.Path }) { // one folder can be a link to the other
			files = append(files, f)
		}
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
