package save

import (
	"bytes"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// volatile lists record fields that differ even between checkpoints with equal state.
var volatile = []string{"checkpoint_id", "created_at", "trigger", "clock", "session_id", "files_modified"}

// unchanged reports whether a new checkpoint would equal the newest checkpoint: the same
// HEAD, the same trees and the same record.
func (w *SaveOp) unchanged(c *chain.Chain, r *checkpoint.Record) bool {
	newest := c.Newest()
	if newest == nil || !newest.Valid() {
		return false
	}
	stored, err := trees.Read(w.Saver.Objects, newest.Tree)
	if err != nil {
		return false
	}
	before, err := w.Saver.Record(newest)
	if err != nil {
		return false
	}
	same := w.sameTrees(stored)
	if !same && w.outOfTime() {
		// All files that were read are unchanged. The others are assumed to be unchanged.
		same = w.partOf(stored) && !slices.ContainsFunc(w.Snap.Facts.Deleted, func(path string) bool {
			return !slices.Contains(before.Snapshot().Deleted, path)
		})
		before, r = withoutSnapshot(before), withoutSnapshot(r)
	}
	now := steady(r, r)
	return same && now != nil && bytes.Equal(steady(before, r), now)
}

// outOfTime reports whether files were skipped because of the time limit.
func (w *SaveOp) outOfTime() bool {
	return slices.ContainsFunc(w.Snap.Facts.Skipped, func(f checkpoint.Skipped) bool { return f.Reason == checkpoint.OutOfTime })
}

// partOf reports whether stored contains the snapshot: the same staged tree, and every
// file that was read.
func (w *SaveOp) partOf(stored []trees.Entry) bool {
	for _, e := range w.Snap.Entries {
		have, ok := trees.Find(stored, e.Name)
		switch {
		case !ok:
			return false
		case have.Hash == e.Hash:
			continue
		case e.Name == "staged" || e.Name == "conflicts":
			return false
		}
		changes, err := trees.DiffBetween(w.Saver.Objects, w.k, have.Hash, e.Hash)
		if err != nil || slices.ContainsFunc(changes, func(c trees.Change) bool { return !c.New.Hash.IsZero() }) {
			return false
		}
	}
	return true
}

// withoutSnapshot returns a record copy whose snapshot contains only facts about HEAD.
func withoutSnapshot(r *checkpoint.Record) *checkpoint.Record {
	facts := r.Snapshot()
	r = checkpoint.FromDoc(r.Doc().Clone())
	r.SetSnapshot(checkpoint.Snapshot{Head: facts.Head, Detached: facts.Detached, MergeHead: facts.MergeHead})
	return r
}

// sameTrees reports whether stored has exactly the snapshot's trees.
func (w *SaveOp) sameTrees(stored []trees.Entry) bool {
	have := map[string]plumbing.Hash{}
	for _, e := range stored {
		if e.IsTree() {
			have[e.Name] = e.Hash
		}
	}
	for _, e := range w.Snap.Entries {
		if have[e.Name] != e.Hash {
			return false
		}
	}
	return len(have) == len(w.Snap.Entries)
}

// steady returns a record without its volatile fields, as JSON. The encoding sorts fields
// into stored order, since edits may reorder them. A missing note in the new record does
// not count as a change.
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
