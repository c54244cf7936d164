package interchange

import (
	"path"
	"slices"

	"git-checkpoint/commands/internal/layoutfiles"
	"git-checkpoint/commands/internal/mirror"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/crunch"
)

// crunchOutputs returns the crunch files of an issue, one per checkpoint. Only files that
// are missing in the folder are generated.
func (m *mirroring) crunchOutputs(issue checkpoint.Issue) ([]layout.Output, error) {
	l, err := m.c.Store.List(m.c.Ctx, issue, 0)
	if err != nil || len(l.Checkpoints) == 0 {
		return []layout.Output{}, err
	}
	var ids []checkpoint.ID
	byID := map[checkpoint.ID]*gitstore.Checkpoint{}
	for i := range slices.Backward(l.Checkpoints) {
		cp := &l.Checkpoints[i]
		ids, byID[cp.ID] = append(ids, cp.ID), cp
	}
	newest, newestErr := m.c.Store.Record(&l.Checkpoints[0])
	if newestErr == nil && crunch.IsLog(newest) {
		return m.worded(issue)(layout.Files(m.as, []*checkpoint.Record{newest}))
	}
	return m.worded(issue)(m.crunchFolder(issue).Continue(ids, func(id checkpoint.ID) (*checkpoint.Record, error) {
		r, err := newest, newestErr
		if id != l.Checkpoints[0].ID {
			r, err = m.c.Store.Record(byID[id])
		}
		if err != nil {
			m.c.Warnf("%s is left out: %v", id, err)
		}
		return r, err
	}))
}

// crunchFolder returns the folder's content as of the last write. An index that was
// edited since is ignored.
func (m *mirroring) crunchFolder(issue checkpoint.Issue) crunch.Folder {
	dir := layoutfiles.LayoutFolder(m.c, m.as, issue)
	in := func(name string) mirror.FileState { return m.state.Files[path.Join(dir, name)] }
	f := crunch.Folder{Has: func(name string) bool {
		return in(name).Owner == string(issue) && in(name).Sum != "" && m.tree.Has(path.Join(dir, name))
	}}
	data, err := m.tree.Read(path.Join(dir, "index.yaml"))
	if e := in("index.yaml"); err == nil && e.Owner == string(issue) && mirror.Sum(data) == e.Sum {
		f.Index = data
	}
	return f
}
