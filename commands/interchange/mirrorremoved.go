package interchange

import (
	"path"
	"path/filepath"
	"slices"

	"git-checkpoint/commands/internal/mirror"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/claude"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/dotagent"
	"git-checkpoint/gitstore/retention"
)

// The users of a system end a workflow by its file: rm after a success, and mv to the folder
// failed. The mirror archives the checkpoints of the issue then. A file is lost, not removed, if
// its folder is gone too, if the files of several issues are gone at once, or if the mirror could
// not read it before; the next save writes it again.

// gone returns the files of workflows that were written or read here and do not exist any more.
func (m *mirroring) gone() (names []string) {
	if m.as == crunch.Name {
		return nil // a file is one checkpoint
	}
	for name, f := range m.state.Files {
		base := path.Base(name)
		isMain := base != "state.json" && path.Base(path.Dir(name)) != failedFolder && (m.as != dotagent.Name || base == "phase.json")
		if isMain && f.Sum != "" && !m.tree.Exists(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// failedFolder is the folder of the claude system for workflows that failed.
const failedFolder = "failed"

// endRemoved archives the issue whose file was removed or moved to the folder failed. It returns
// the changed files without the moved one, which is no new workflow.
func (m *mirroring) endRemoved(files []mirror.ChangedFile, tips map[checkpoint.Issue]string) []mirror.ChangedFile {
	var removed []string
	for _, name := range m.gone() {
		was := m.state.Files[name]
		if tip := tips[checkpoint.Issue(was.Owner)]; tip == "" || tip != m.state.Tips[was.Owner] || !m.tree.Exists(path.Dir(name)) {
			m.forget(name) // the issue went on without its file, or the file is lost
			continue
		}
		at := slices.IndexFunc(files, func(f mirror.ChangedFile) bool {
			return m.as == claude.Name && path.Base(path.Dir(f.Path)) == failedFolder && f.Err == nil && mirror.Sum(f.Data) == was.Sum
		})
		if at < 0 {
			removed = append(removed, name)
			continue
		}
		if m.end(name, retention.ReasonFailed, "was moved to "+view.QuotePath(path.Dir(files[at].Path))) {
			m.state.Took(files[at], was.Owner, was.Key)
			files = slices.Delete(files, at, at+1)
		}
	}
	for _, name := range removed {
		if len(removed) > 1 {
			m.forget(name)
		} else {
			m.end(name, retention.ReasonCompleted, "was removed")
		}
	}
	return files
}

// end archives the issue of a file for a reason, and reports whether it did.
func (m *mirroring) end(name string, why retention.Reason, what string) bool {
	issue := checkpoint.Issue(m.state.Files[name].Owner)
	if _, err := m.c.Store.Archive(m.c.Ctx, issue, nil, why); err != nil {
		m.left(name, err)
		return false
	}
	delete(m.state.Files, name)
	arg := view.IssueArg(issue)
	m.c.WarnAlways("mirror: %s %s: the checkpoints of issue %s are archived (%s); git checkpoint undo %s restores them",
		view.QuotePath(name), what, issue, why, arg)
	return true
}

// forget notes that a file is lost or unreadable, so that its absence ends no workflow.
func (m *mirroring) forget(name string) {
	if f, known := m.state.Files[name]; known {
		f.Sum = ""
		m.state.Files[name] = f
	}
}

// mirrored returns the issue of a file that the mirror wrote or recorded, or "" for other files
// and other contents.
func (in *importing) mirrored(d document) string {
	as := in.c.Settings.String("mirror")
	if as == "off" || as == "" || d.path == "-" {
		return ""
	}
	if in.mirror == nil {
		root, err := in.c.Store.MainRoot(in.c.Ctx)
		if err != nil {
			return ""
		}
		if in.mirror, _, err = mirror.Load(in.c.Store.Notes.Path(mirrorNote), as, root); err != nil {
			return ""
		}
	}
	file, err := filepath.Abs(filepath.FromSlash(d.path))
	if err != nil {
		return ""
	}
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return ""
	}
	name, err := filepath.Rel(in.mirror.Root, file)
	if err != nil {
		return ""
	}
	if f := in.mirror.Files[filepath.ToSlash(name)]; f.Sum == mirror.Sum(d.data) {
		return f.Owner
	}
	return ""
}
