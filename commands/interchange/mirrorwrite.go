package interchange

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/mirror"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/claude"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/dotagent"
)

// give writes an issue's files and then removes obsolete files.
func (m *mirroring) give(issue checkpoint.Issue, tips map[checkpoint.Issue]string) error {
	outputs, err := m.outputs(issue)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, o := range outputs {
		name := path.Join(work.LayoutFolder(m.c, m.as, issue), o.Path)
		wanted[name] = true
		if other := m.taken(name, issue, tips); other != "" {
			m.left(name, fmt.Errorf("it is the file of issue %s", other))
		} else if err := m.put(name, o, issue); atomicfile.IsPassing(err) {
			return fmt.Errorf("%s: %w", view.QuotePath(name), err) // the next command tries again; the existing file stays until then
		} else if err != nil {
			m.left(name, err)
		}
	}
	if outputs == nil {
		return nil
	}
	if err := m.archive(issue, len(outputs) == 0); err != nil {
		return err
	}
	if len(outputs) > 0 {
		work.ExcludeFolder(m.c, work.FolderPattern(m.c, m.as))
	}
	for name, e := range m.state.Files {
		// A dotagent folder holds one workflow, so files of other issues go too.
		if !wanted[name] && (e.Owner == string(issue) || m.as == dotagent.Name && len(outputs) > 0) {
			if err := m.tree.Remove(m.state, name); atomicfile.IsPassing(err) {
				return fmt.Errorf("%s: %w", view.QuotePath(name), err)
			} else if err != nil {
				m.left(name, err)
			}
		}
	}
	return nil
}

// archive writes the last state of an archived dotagent workflow to the system's folder
// .archive, if its files are the state that was archived. The files of a dropped workflow
// are not archived.
func (m *mirroring) archive(issue checkpoint.Issue, gone bool) error {
	folder := work.LayoutFolder(m.c, m.as, issue)
	file := m.state.Files[path.Join(folder, "phase.json")]
	if m.as != dotagent.Name || !gone || file.Owner != string(issue) {
		return nil
	}
	// The end of a workflow archives a last checkpoint on top of the state in the file.
	l, err := m.c.Store.Archived(m.c.Ctx, issue, 3)
	if errors.As(err, new(*gitstore.NoneError)) {
		return nil
	}
	if err != nil {
		return err
	}
	var last []layout.Output
	known := false
	for i := range l.Checkpoints {
		r, err := m.c.Store.Record(&l.Checkpoints[i])
		if err != nil {
			return err
		}
		outputs, err := layout.Find(m.as).FilesOf([]*checkpoint.Record{r})
		if err != nil {
			return nil // the layout cannot represent the workflow
		}
		if last == nil {
			last = outputs
		}
		known = known || slices.ContainsFunc(outputs, func(o layout.Output) bool { return o.Path == "phase.json" && mirror.Sum(o.Data) == file.Sum })
	}
	if !known {
		return nil
	}
	to := mirror.ArchiveFolder(folder, cmp.Or(file.Key, string(issue)), l.Checkpoints[0].Filed.At)
	if err := m.tree.WriteToArchive(to, last); err != nil {
		return fmt.Errorf("%s: %w", view.QuotePath(to), err)
	}
	m.c.Infof("the files of %s are in %s now", cmp.Or(file.Key, string(issue)), view.QuotePath(to))
	return nil
}

// taken returns another issue that owns a file, or "". Two issues can map to the same
// file name. A file that exists once per folder belongs to its last writer.
func (m *mirroring) taken(name string, issue checkpoint.Issue, tips map[checkpoint.Issue]string) string {
	owner := m.state.Files[name].Owner
	single := m.as == crunch.Name || m.as == dotagent.Name || path.Base(name) == "state.json"
	if single || owner == string(issue) || tips[checkpoint.Issue(owner)] == "" {
		return ""
	}
	return owner
}

// outputs returns the files of an issue. The slice is empty if the issue has no
// checkpoint, and nil if the layout cannot represent it.
func (m *mirroring) outputs(issue checkpoint.Issue) ([]layout.Output, error) {
	records, err := work.RecordsToExport(m.c, issue, m.as)
	if errors.As(err, new(*gitstore.NoneError)) || err == nil && len(records) == 0 {
		return m.failed(issue)
	}
	if err != nil {
		return nil, err
	}
	outputs, err := layout.Find(m.as).FilesOf(records)
	if err == nil {
		failed, err := m.failed(issue)
		return append(outputs, failed...), err
	}
	if begun := len(records[len(records)-1].Progress().Completed) > 0; begun && errors.As(err, new(*layout.InvalidError)) {
		m.c.Warnf("mirror: issue %s: its file is not written: %v", issue, err) // it is behind
	} else if m.c.Line.Common.Verbose {
		m.c.Infof("mirror: issue %s: %v", issue, err)
	}
	return nil, nil
}

// failed returns the files of an issue's last archived work, if it did not complete. The claude
// system keeps them in a separate folder, beside the files of new work.
func (m *mirroring) failed(issue checkpoint.Issue) ([]layout.Output, error) {
	if m.as != claude.Name {
		return []layout.Output{}, nil
	}
	l, err := m.c.Store.Archived(m.c.Ctx, issue, 1)
	switch {
	case err != nil && !errors.As(err, new(*gitstore.NoneError)):
		return nil, err
	case err != nil || len(l.Checkpoints) == 0 || !work.IsFailure(m.as, &l.Checkpoints[0]):
		return []layout.Output{}, nil
	}
	r, err := m.c.Store.Record(&l.Checkpoints[0])
	if err != nil {
		return nil, err
	}
	outputs, err := layout.Find(m.as).FailedFilesOf([]*checkpoint.Record{r})
	if err != nil {
		return []layout.Output{}, nil
	}
	return outputs, nil
}

func (m *mirroring) put(name string, o layout.Output, issue checkpoint.Issue) error {
	if o.Link == "" && layout.Ignored(name) != "" {
		return errors.New("no file of this layout by its name")
	}
	return m.tree.Put(m.state, name, o, string(issue), m.key(name, o, issue), func(data []byte) bool {
		return crunch.IsIndex(data) && crunch.IsIndex(o.Data)
	})
}

// key returns the key of the workflow that a file belongs to.
func (m *mirroring) key(name string, o layout.Output, issue checkpoint.Issue) string {
	if m.as == crunch.Name || o.Link != "" {
		return string(issue)
	}
	doc, err := layout.Read(m.as, name, o.Data)
	if err != nil {
		return ""
	}
	return doc.Key()
}
