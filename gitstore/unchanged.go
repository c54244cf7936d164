package gitstore

import (
	"bytes"
	"context"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// volatile lists record fields that differ even between checkpoints with equal state.
var volatile = []string{"checkpoint_id", "created_at", "trigger", "clock", "session_id", "files_modified", "last_run"}

// unchanged reports whether a new checkpoint would equal the newest checkpoint: the same
// HEAD, the same trees and the same record. If there is no checkpoint, a turn is unchanged
// if no file differs from HEAD. An issue that was finished, archived or dropped begins again
// only with work that its last checkpoint lacks, unless a person saves.
func (w *saveOp) unchanged(ctx context.Context, c *chain.Chain, r *checkpoint.Record) bool {
	newest := c.Newest()
	if newest == nil {
		isClean := w.snap.Count == 0 && len(w.snap.Facts.MergeHead) == 0 &&
			!slices.ContainsFunc(w.snap.Facts.Skipped, func(f checkpoint.Skipped) bool { return f.Reason != checkpoint.NotListed })
		if c.Tip.IsZero() || !w.req.Automatic {
			return isClean && r.Trigger() == checkpoint.Turn
		}
		isLast := false
		moves, _ := w.store.repo.Reflog(ctx, repo.LiveRef(w.req.Issue))
		for _, e := range moves {
			commit, err := w.store.repo.ReadCommit(e.Old)
			if last := chain.CheckpointOf(commit, w.req.Issue); err == nil && last.Valid() {
				stored, _ := trees.Read(w.store.repo.Objects, last.Tree)
				isLast = trees.HashOf(stored, "state") == w.snap.State
				break
			}
		}
		return isLast || isClean && len(r.AgentTurn().Commits) == 0
	}
	if !newest.Valid() {
		return false
	}
	stored, err := trees.Read(w.store.repo.Objects, newest.Tree)
	if err != nil {
		return false
	}
	before, err := w.store.chain.Record(newest)
	if err != nil {
		return false
	}
	if w.snap.Facts.IsOutOfTime() { // the files that were not read are carried
		before, r = withoutSnapshot(before), withoutSnapshot(r)
	}
	now := steady(r, r)
	return w.sameTrees(stored) && now != nil && bytes.Equal(steady(before, r), now)
}

// withoutSnapshot returns a record copy whose snapshot contains only facts about HEAD.
func withoutSnapshot(r *checkpoint.Record) *checkpoint.Record {
	facts := r.Snapshot()
	r = checkpoint.FromDoc(r.Doc().Clone())
	r.SetSnapshot(checkpoint.Snapshot{Head: facts.Head, Detached: facts.Detached, MergeHead: facts.MergeHead})
	return r
}

// sameTrees reports whether stored has exactly the snapshot's trees.
func (w *saveOp) sameTrees(stored []trees.Entry) bool {
	have := map[string]plumbing.Hash{}
	for _, e := range stored {
		if e.IsTree() {
			have[e.Name] = e.Hash
		}
	}
	entries := w.snap.Entries()
	for _, e := range entries {
		if have[e.Name] != e.Hash {
			return false
		}
	}
	return len(have) == len(entries)
}

// steady returns a record without its volatile fields, as JSON. The encoding sorts fields
// into stored order, since edits may reorder them. A missing note or request in the new record
// does not count as a change, nor does another number of a turn. Tokens that were spent do.
func steady(r, given *checkpoint.Record) []byte {
	m := r.Doc().Clone()
	for _, key := range volatile {
		m.Delete(key)
	}
	if given.Note() == "" || given.Trigger() == checkpoint.Turn { // the note of a turn is its request
		m.Delete("note")
	}
	same := checkpoint.FromDoc(m)
	said := checkpoint.AgentTurn{Spent: r.AgentTurn().Spent}
	if t := given.AgentTurn(); t.Request != "" || t.Answer != "" {
		said.Request, said.Answer = r.AgentTurn().Request, r.AgentTurn().Answer
	}
	same.SetAgentTurn(said)
	data, err := same.JSON()
	if err != nil {
		return nil
	}
	return data
}
