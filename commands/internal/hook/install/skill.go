package install

import (
	"path/filepath"
	"slices"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/hook"
)

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
	shown, forced := r.shownFile(f.Path), r.forced(install, o.flags)
	switch {
	case f.Exists() && !o.mark.IsOwn(f.Text) && !r.Force:
		return nil, refuse(forced, "%s was edited%s", shown, byOther)
	case install && f.Text != o.text:
		return r.change(f, forced, "write ", func() error { return r.replace(f, o.text) })
	case !install && f.Exists():
		return r.change(f, forced, "remove ", func() error {
			err := r.keep(f, f.Remove)
			if err == nil {
				r.removeFolders(filepath.Dir(f.Path))
			}
			return err
		})
	}
	return nil, nil
}

// byOther ends the text about an edited file.
const byOther = ", or another program wrote it"

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
