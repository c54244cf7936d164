package contents

import (
	"git-checkpoint/gitstore/internal/trees"
)

// Between returns a target for each path that differs between two snapshots, sorted by path. Base
// is the version of the older snapshot, or its staged version if it did not capture the file. Between
// leaves out files that the newer snapshot does not know, because their absence proves nothing.
func Between(objects trees.Reader, older, newer *Contents) ([]Target, error) {
	before, err := Gather(objects, older)
	if err != nil {
		return nil, err
	}
	after, err := Gather(objects, newer)
	if err != nil {
		return nil, err
	}
	committed, err := before.files(older.Staged, newer.Staged)
	if err != nil {
		return nil, err
	}
	result := &Files{objects: objects, find: after.find, Snap: newer, States: after.States, ByPath: map[string]*Target{}}
	add := func(path string) {
		t := Target{Path: path, IndexBase: before.entriesAt(path), IndexWant: after.entriesAt(path)}
		t.Index = t.IndexBase != t.IndexWant && !before.lacksEntry(path) && !after.lacksEntry(path)
		var known bool
		if t.WorkBase, known = before.FileAt(path); !known {
			t.WorkBase = before.Entry(path)
		}
		t.WorkWant, known = after.FileAt(path)
		gitlink := t.WorkBase.Mode == trees.ModeGitlink || t.WorkWant.Mode == trees.ModeGitlink
		if t.Work = known && !gitlink && t.WorkBase != t.WorkWant; t.Work || t.Index {
			t.Captured = t.Work
			result.ByPath[path] = &t
		}
	}
	for _, c := range committed {
		add(c.Path)
	}
	for _, side := range []*Files{before, after} {
		for path := range side.ByPath {
			add(path)
		}
	}
	return result.list()
}

// entriesAt returns the entries of a path in the index.
func (w *Files) entriesAt(path string) Stages {
	if t := w.ByPath[path]; t != nil && t.Index {
		return t.IndexWant
	}
	return Merged(w.Entry(path))
}
