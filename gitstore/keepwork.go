package gitstore

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/retention"

	"github.com/go-git/go-git/v5/plumbing"
)

// A work has the trees of a checkpoint. What differs from HEAD is uncommitted.
type work struct{ head, staged, state plumbing.Hash }

// keepWork keeps checkpoints with uncommitted files that all later checkpoints lack, such as work
// that git reset has removed. The first item is the new checkpoint if coming is not nil. An object
// that could not be read for lack of resources makes the result invalid.
func (s *Store) keepWork(p retention.Policy, items []retention.Item, ds []retention.Decision, known map[checkpoint.ID]*chain.ChainCommit, coming *work, objects trees.Reader) (kept []retention.Decision, failed error) {
	works := map[checkpoint.ID]*work{}
	note := func(err error) bool {
		if failed == nil && odb.IsOfSystem(err) {
			failed = err
		}
		return err == nil
	}
	of := func(i int) *work {
		if i == 0 && coming != nil {
			return coming
		}
		id := items[i].ID
		if w, read := works[id]; read || known[id] == nil {
			return w
		}
		st, err := s.Files.TreesOf(&known[id].Checkpoint)
		if works[id] = nil; note(err) { // otherwise its files cannot be restored
			works[id] = &work{st.Base, st.Staged, st.State}
		}
		return works[id]
	}
	kept = retention.KeepWork(p, items, ds, func(newer, older int) bool {
		old, now := of(older), of(newer)
		if old == nil {
			return true
		}
		if now == nil {
			return false
		}
		if now != coming { // without a record, no resume can restore its files
			if _, err := s.chain.Record(&known[items[newer].ID].Checkpoint); !note(err) {
				return false
			}
		}
		covers, err := now.covers(objects, old)
		return note(err) && covers
	})
	return kept, failed
}

// covers reports whether w has the uncommitted files of an older checkpoint: for each path an
// uncommitted version, or the same content. If HEAD has changed at a path, the work was committed.
func (w *work) covers(r trees.Reader, older *work) (bool, error) {
	if *w == *older {
		return true, nil
	}
	state, err := trees.Diff(r, older.head, older.state)
	if err != nil {
		return false, err
	}
	staged, err := trees.Diff(r, older.head, older.staged)
	if err != nil {
		return false, err
	}
	find := &trees.Finder{Reader: r}
	at := func(tree plumbing.Hash, path string) plumbing.Hash {
		_, hash, e := find.Lookup(tree, path)
		if e != nil {
			err = e
		}
		return hash
	}
	lacks := func(c trees.Change) bool {
		head, now := at(w.head, c.Path), []plumbing.Hash{at(w.state, c.Path), at(w.staged, c.Path)}
		isOwn := slices.ContainsFunc(now, func(h plumbing.Hash) bool { return h != head })
		return head == c.Old.Hash && !isOwn && !slices.Contains(now, c.New.Hash)
	}
	return !slices.ContainsFunc(append(state, staged...), lacks), err
}
