package gitstore

import (
	"bytes"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// volatile are the fields of a record that differ between two checkpoints of
// the same state.
var volatile = []string{"checkpoint_id", "created_at", "trigger", "clock", "session_id", "files_modified"}

// unchanged reports whether a checkpoint would say what the newest one says:
// the same HEAD, the same trees, the same record.
func (w *saveOp) unchanged(c *chain, r *checkpoint.Record) bool {
	newest := c.newest()
	if newest == nil || !newest.Valid() {
		return false
	}
	stored, err := trees.Read(w.s.objects, newest.Tree)
	if err != nil {
		return false
	}
	before, err := w.s.Record(newest)
	if err != nil {
		return false
	}
	same := w.sameTrees(stored)
	if !same && w.outOfTime() {
		// What was read is the same: the rest is not known to have changed.
		same = w.partOf(stored) && !slices.ContainsFunc(w.snap.Facts.Deleted, func(path string) bool {
			return !slices.Contains(before.Snapshot().Deleted, path)
		})
		before, r = withoutSnapshot(before), withoutSnapshot(r)
	}
	now := steady(r, r)
	return same && now != nil && bytes.Equal(steady(before, r), now)
}

// outOfTime reports whether files were not read for lack of time.
func (w *saveOp) outOfTime() bool {
	return slices.ContainsFunc(w.snap.Facts.Skipped, func(f checkpoint.Skipped) bool { return f.Reason == checkpoint.OutOfTime })
}

// partOf reports whether stored has all that the snapshot has: the same staging
// area on the same HEAD, and each file that was read.
func (w *saveOp) partOf(stored []trees.Entry) bool {
	for _, e := range w.snap.Entries {
		have, ok := trees.Find(stored, e.Name)
		switch {
		case !ok:
			return false
		case have.Hash == e.Hash:
			continue
		case e.Name == "staged" || e.Name == "conflicts":
			return false
		}
		changes, err := trees.DiffBetween(w.s.objects, w.k, have.Hash, e.Hash)
		if err != nil || slices.ContainsFunc(changes, func(c trees.Change) bool { return !c.New.Hash.IsZero() }) {
			return false
		}
	}
	return true
}

// withoutSnapshot is a record that does not say what was left out, but still on
// which HEAD it was saved.
func withoutSnapshot(r *checkpoint.Record) *checkpoint.Record {
	facts := r.Snapshot()
	r = checkpoint.FromDoc(r.Doc().Clone())
	r.SetSnapshot(checkpoint.Snapshot{Head: facts.Head, Detached: facts.Detached, MergeHead: facts.MergeHead})
	return r
}

// sameTrees reports whether stored holds the snapshot's trees and no other.
func (w *saveOp) sameTrees(stored []trees.Entry) bool {
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
