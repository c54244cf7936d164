package save

import (
	"bytes"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/retention"

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

// A contents holds the files of a checkpoint, and the list of files that were left out.
type contents struct {
	facts   checkpoint.Snapshot
	entries []trees.Entry // entries of the checkpoint's tree
}

// A fullness compares the contents of the checkpoints of a chain.
type fullness struct {
	s       *Saver
	objects trees.Reader
	known   map[checkpoint.ID]*chain.ChainCommit
	coming  *contents // of the checkpoint that is being saved, or nil
	failed  error     // first read that failed for lack of resources, or nil
}

// Read reads an object. A missing or damaged object is part of the comparison. An object
// that could not be read for lack of resources makes the whole comparison invalid.
func (f *fullness) Read(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	kind, data, err := f.objects.Read(h)
	f.note(err)
	return kind, data, err
}

func (f *fullness) note(err error) {
	if f.failed == nil && chain.IsExhausted(err) {
		f.failed = err
	}
}

// keepFuller keeps checkpoints that have files which all later checkpoints lack. The
// first item is the new checkpoint if f.coming is not nil.
func (s *Saver) keepFuller(p retention.Policy, items []retention.Item, ds []retention.Decision, f *fullness) ([]retention.Decision, error) {
	kept := retention.KeepFuller(p, items, ds, func(newer, older int) bool {
		old, now := f.known[items[older].ID], f.coming
		if newer > 0 || now == nil {
			now = f.of(f.known[items[newer].ID])
		}
		return old == nil || now != nil && f.covers(now, old)
	})
	return kept, f.failed
}

// of returns the contents of a checkpoint, or nil if they cannot be read.
func (f *fullness) of(l *chain.ChainCommit) *contents {
	if l == nil {
		return nil
	}
	r, err := f.s.Record(&l.Checkpoint)
	if err != nil {
		f.note(err)
		return nil
	}
	entries, err := trees.Read(f, l.Tree)
	if err != nil {
		return nil
	}
	return &contents{r.Snapshot(), entries}
}

// covers reports whether an older checkpoint has no additional files. Additional files
// are files that the newer checkpoint left out, or was not asked to capture.
func (f *fullness) covers(newer *contents, older *chain.ChainCommit) bool {
	left := newer.facts.LeftOut()
	if newer.facts.Worktree && newer.facts.Untracked && len(left) == 0 {
		return true
	}
	entries, err := trees.Read(f, older.Tree)
	if err != nil {
		return true // no file of it could be restored
	}
	unread := slices.ContainsFunc(left, func(s checkpoint.Skipped) bool { return s.Path == "." || s.Reason == checkpoint.OutOfTime })
	for name, asked := range map[string]bool{"worktree": newer.facts.Worktree, "untracked": newer.facts.Untracked} {
		if (!asked || unread) && f.lacks(newer.entries, entries, name) {
			return false
		}
	}
	return !slices.ContainsFunc(left, func(s checkpoint.Skipped) bool { return f.holds(older, entries, newer.entries, s.Path) })
}

// lacks reports whether a named subtree of the older checkpoint has files that the newer
// checkpoint lacks. A file with the same content in the newer staged tree is not lacking.
func (f *fullness) lacks(newer, older []trees.Entry, name string) bool {
	had, ok := trees.Find(older, name)
	if !ok {
		return false
	}
	has, _ := trees.Find(newer, name)
	staged, _ := trees.Find(newer, "staged")
	changes, err := trees.Diff(f, had.Hash, has.Hash)
	return err != nil || slices.ContainsFunc(changes, func(c trees.Change) bool {
		return c.New.Hash.IsZero() && c.Old.Hash != f.lookup(staged.Hash, c.Path)
	})
}

// holds reports whether the older checkpoint has a file, either outside the staged tree,
// or staged with other content than in the newer checkpoint. Staged files equal to HEAD
// do not count, since commit history contains them.
func (f *fullness) holds(older *chain.ChainCommit, entries, newer []trees.Entry, path string) bool {
	now, _ := trees.Find(newer, "staged")
	for _, e := range entries {
		if !e.IsTree() || e.Name == "conflicts" {
			continue
		}
		hash := f.lookup(e.Hash, path)
		if !hash.IsZero() && (e.Name != "staged" || hash != f.lookup(now.Hash, path) && hash != f.inHead(older, path)) {
			return true
		}
	}
	return false
}

// inHead returns the hash of a file in the HEAD of a checkpoint, or zero if it cannot be
// read.
func (f *fullness) inHead(l *chain.ChainCommit, path string) plumbing.Hash {
	if len(l.Raw.Parents) < 2 {
		return plumbing.ZeroHash
	}
	index, err := f.s.ReadCommit(l.Raw.Parents[1])
	f.note(err)
	if err != nil || len(index.Parents) == 0 {
		return plumbing.ZeroHash
	}
	head, err := f.s.ReadCommit(index.Parents[0])
	f.note(err)
	if err != nil {
		return plumbing.ZeroHash
	}
	return f.lookup(head.Tree, path)
}

func (f *fullness) lookup(tree plumbing.Hash, path string) plumbing.Hash {
	_, hash, err := trees.Lookup(f, tree, path)
	if err != nil {
		return plumbing.ZeroHash
	}
	return hash
}
