package gitstore

import (
	"bytes"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// volatile are the fields of a record that differ between two checkpoints of
// the same state.
var volatile = []string{"checkpoint_id", "created_at", "trigger", "clock", "session_id", "files_modified"}

// unchanged reports whether a checkpoint would say what the newest one says:
// the same HEAD, the same trees, the same record.
func (w *writing) unchanged(c *chain, r *checkpoint.Record) bool {
	newest := c.newest()
	if newest == nil || !newest.Valid() {
		return false
	}
	stored, err := trees.Read(w.s.objects, newest.Tree)
	if err != nil || !w.sameTrees(stored) {
		return false
	}
	before, err := w.s.Record(newest)
	now := steady(r, r)
	return err == nil && now != nil && bytes.Equal(steady(before, r), now)
}

// sameTrees reports whether stored holds the snapshot's trees and no other.
func (w *writing) sameTrees(stored []trees.Entry) bool {
	have := map[string]plumbing.Hash{}
	for _, e := range stored {
		if e.IsTree() {
			have[e.Name] = e.Hash
		}
	}
	for _, e := range w.snap.Entries {
		if have[e.Name] != e.Hash {
			return false
		}
	}
	return len(have) == len(w.snap.Entries)
}

// steady is a record without its volatile fields, in the order in which it is
// stored: an edit leaves another one behind. A note that is not given again is
// no change.
func steady(r, given *checkpoint.Record) []byte {
	m := r.Doc().Clone()
	for _, key := range volatile {
		m.Delete(key)
	}
	if given.Note() == "" {
		m.Delete("note")
	}
	data, err := checkpoint.FromDoc(m).JSON()
	if err != nil {
		return nil
	}
	return data
}
