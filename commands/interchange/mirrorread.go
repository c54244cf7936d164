package interchange

import (
	"bytes"
	"cmp"
	"errors"
	"path"
	"path/filepath"
	"slices"

	"git-checkpoint/commands/internal/mirror"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/claude"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/dotagent"
	"git-checkpoint/gitstore/retention"
)

// takeIn records the changed files. The first call also notes the tips of the chains, so
// that only later saves are written to files.
func (m *mirroring) takeIn() error {
	fresh, err := m.load()
	if err != nil {
		return err
	}
	files, err := m.changed()
	if err != nil {
		return err
	}
	if len(files) == 0 && !fresh && len(m.gone()) == 0 {
		return nil
	}
	return m.locked(func(fresh bool) error {
		tips, err := m.c.Store.Tips(m.c.Ctx)
		if err != nil {
			return err
		}
		unnoted := m.behind(tips)
		if fresh {
			for i, tip := range tips {
				m.state.Tips[string(i)] = tip
			}
		}
		files, err := m.changed() // another process may have recorded them since the first read
		if err != nil {
			return err
		}
		m.takeAll(m.endRemoved(m.recognize(files, unnoted), tips))
		return nil
	})
}

// recognize compares changed files with those that the mirror would write now, for the issues
// whose noted tip is another. Their files can differ from the note if it was lost, or if a process
// was killed or the disk was full between the write of a file and the write of the note. An equal
// file is not changed. A file that the note lacks still contains the name of its workflow, which
// can differ from the issue. recognize returns the other files.
func (m *mirroring) recognize(files []mirror.ChangedFile, unnoted []checkpoint.Issue) []mirror.ChangedFile {
	if len(files) == 0 || m.as == crunch.Name { // crunch files name the issue
		return files
	}
	for _, i := range unnoted {
		outputs, err := m.outputs(i)
		if err != nil {
			continue
		}
		for _, o := range outputs {
			name := path.Join(work.LayoutFolder(m.c, m.as, i), o.Path)
			at := slices.IndexFunc(files, func(f mirror.ChangedFile) bool { return f.Path == name })
			_, known := m.state.Files[name]
			switch {
			case at < 0:
			case files[at].Err == nil && bytes.Equal(files[at].Data, o.Data):
				m.state.Took(files[at], string(i), m.key(name, o, i))
				files = slices.Delete(files, at, at+1)
			case !known:
				m.state.Files[name] = mirror.FileState{Owner: string(i), Key: m.key(name, o, i)}
			}
		}
	}
	return files
}

// A taking is a changed file that can be recorded.
type taking struct {
	mirror.ChangedFile
	doc *layout.File
}

// takeAll records files, oldest first. Files that continue the workflow of another file
// come last.
func (m *mirroring) takeAll(files []mirror.ChangedFile) {
	var todo []taking
	for _, f := range files {
		doc, err := m.read(f)
		if err != nil {
			m.left(f.Path, err)
			m.forget(f.Path)
		} else if doc != nil {
			todo = append(todo, taking{f, doc})
		}
	}
	slices.SortStableFunc(todo, func(a, b taking) int {
		written := 0
		at, err := checkpoint.ParseTime(a.doc.Written())
		if other, otherErr := checkpoint.ParseTime(b.doc.Written()); err == nil && otherErr == nil {
			written = at.Compare(other)
		}
		switch {
		case a.doc.Sequel() == b.doc.Sequel():
			return cmp.Or(written, cmp.Compare(a.Path, b.Path))
		case a.doc.Sequel():
			return 1
		}
		return -1
	})
	for _, t := range todo {
		if err := m.take(t); err != nil {
			m.left(t.Path, err)
		}
	}
}

// read returns the document in a file, or nil for a file that is neither in the state nor
// a known document.
func (m *mirroring) read(f mirror.ChangedFile) (*layout.File, error) {
	if f.Err != nil {
		return nil, f.Err
	}
	doc, err := layout.Read(m.as, f.Path, f.Data)
	if _, known := m.state.Files[f.Path]; !known && errors.As(err, new(*layout.UnknownDocumentError)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return doc, doc.Err(false)
}

// take records one file, unless the store already has its content.
func (m *mirroring) take(t taking) error {
	issue, err := m.issueOf(t)
	if err != nil {
		return err
	}
	if !m.isThere(issue, t.doc) {
		saved, err := m.save(issue, t)
		if err != nil {
			return err
		}
		if !m.c.Out.Quiet { // a hook's one line is for other messages
			m.c.Infof("recorded: %s as %s", view.QuotePath(t.Path), saved.ID)
			work.WarnLeftOut(m.c, saved)
		}
	}
	m.state.Took(t.ChangedFile, string(issue), t.doc.Key())
	return nil
}

// issueOf returns the issue of a file. If the key in the file is unchanged, the issue
// stays. Otherwise the issue is the key, the owner of the phase.json beside the file, or
// the named issue, in this order.
func (m *mirroring) issueOf(t taking) (checkpoint.Issue, error) {
	known, there := m.state.Files[t.Path]
	beside := m.state.Files[path.Join(path.Dir(t.Path), "phase.json")]
	switch key := t.doc.Key(); {
	case there && known.Key == key:
		return checkpoint.Issue(known.Owner), nil
	case key != "":
		return checkpoint.ParseIssue(key)
	case t.doc.Sequel() && beside.Owner != "":
		return checkpoint.Issue(beside.Owner), nil
	}
	return m.c.NamedIssue()
}

// isThere reports whether the store already has the document: as the newest record, or as
// the checkpoint with the document's id.
func (m *mirroring) isThere(issue checkpoint.Issue, doc *layout.File) bool {
	if doc.Whole() {
		cp, err := m.c.Store.ByID(m.c.Ctx, issue, doc.ID())
		if err != nil {
			return false
		}
		r, err := m.c.Store.Record(cp)
		return err == nil && doc.In(r)
	}
	_, r, err := m.c.Store.NewestValid(m.c.Ctx, issue)
	return err == nil && doc.In(r)
}

// save records a document like `save --as`. A command that does not save, such as resume, may
// follow a loss of files. The checkpoint then has only the staged files, so that it does not
// hide the lost files.
func (m *mirroring) save(issue checkpoint.Issue, t taking) (*gitstore.Saved, error) {
	c, trigger, named := m.c, t.doc.Trigger(), false
	if t.doc.Whole() { // the index of the folder of crunch can name the trigger
		if data, err := m.tree.Read(path.Join(path.Dir(t.Path), "index.yaml")); err == nil {
			var indexed checkpoint.Trigger
			if indexed, named = crunch.Triggers(data)[t.doc.ID()]; named {
				trigger = indexed
			}
		}
	}
	if on, why := c.Settings.TriggerEnabled(trigger); !on {
		return nil, errors.New(why)
	}
	req := gitstore.SaveRequest{
		Issue: issue, Edit: work.DocumentEdit(c, t.doc, trigger, named), Branch: c.DetachedBranch(), Keep: t.doc.Whole(),
	}
	work.ChooseFiles(c, &req, !c.Needs.WillSave)
	if c.Settings.Bool("auto_prune") {
		req.Retention = c.Settings.Policy()
	}
	return c.Store.Save(c.Ctx, req)
}

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
	if err == nil {
		file, err = filepath.EvalSymlinks(file)
	}
	if err == nil {
		file, err = filepath.Rel(in.mirror.Root, file)
	}
	if f := in.mirror.Files[filepath.ToSlash(file)]; err == nil && f.Sum == mirror.Sum(d.data) {
		return f.Owner
	}
	return ""
}
