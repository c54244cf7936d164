package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// An Undone is the result of Undo or Redo, or its preview.
type Undone struct {
	What     string          // restore, prune, drop or archive
	At       time.Time       // time of the operation; for Redo, of its undo
	IDs      []checkpoint.ID // checkpoints that were restored to the chain; for Redo, that were removed
	Restored *Restored       // set for a restore
	Commits  int             // commits since the operation, set in a preview
	Saves    int             // saves since the operation, set in a preview

	key string // of the operation
}

// Undo reverts this clone's last restore, prune, drop or archive of an issue. Removed
// checkpoints return to their former place, and later saves stay, with their pruning. Paths
// that have changed since a restore stay. If shown is not nil, Undo fails with a
// *RefusedError unless it would revert the operation of this preview. Undo fails with
// ErrNothingToUndo.
func (s *Restorer) Undo(ctx context.Context, issue checkpoint.Issue, shown *Undone) (*Undone, error) {
	if done, err := s.FinishedUndo(ctx, issue); err != nil || done != nil {
		return done, err
	}
	for {
		o, err := s.nextUndo(ctx, issue)
		if err == nil {
			err = shown.check(o)
		}
		if err != nil {
			return nil, err
		}
		done := &Undone{What: o.what, At: o.at}
		if o.snapshot != nil {
			done.Restored, err = s.revertRestore(ctx, o.snapshot)
			return done, err
		}
		// Without ids another process has undone the removal meanwhile.
		if done.IDs, err = s.undoRemoval(ctx, issue, o.move); err != nil || len(done.IDs) > 0 {
			return done, err
		}
	}
}

// Redo reverts the last undo of an issue, with the rules and the parameters of Undo. It
// fails with ErrNothingToRedo.
func (s *Restorer) Redo(ctx context.Context, issue checkpoint.Issue, shown *Undone) (*Undone, error) {
	if done, err := s.FinishedRedo(ctx, issue); err != nil || done != nil {
		return done, err
	}
	o, err := s.nextRedo(ctx, issue)
	if err == nil {
		err = shown.check(o)
	}
	if err != nil {
		return nil, err
	}
	done := &Undone{What: o.what, At: o.at}
	if o.snapshot != nil {
		done.Restored, err = s.revertRestore(ctx, o.snapshot)
		return done, err
	}
	done.IDs, err = s.redoRemoval(ctx, issue, o)
	return done, err
}

// check fails if o is not the operation of a preview.
func (u *Undone) check(o *operation) error {
	if u == nil || u.key == o.key() {
		return nil
	}
	return &repo.RefusedError{Reason: "another process has restored or removed checkpoints meanwhile", Hint: "run the command again"}
}

// FinishedUndo returns the result of an undo killed after its refs had moved, or nil. The
// user does not know that it succeeded, and repeats the command. FinishedUndo also repairs a
// chain that plain git has rewritten, so that a preview shows the right operation.
func (s *Restorer) FinishedUndo(ctx context.Context, issue checkpoint.Issue) (*Undone, error) {
	return s.finished(ctx, issue, repo.UndoPrefix)
}

// FinishedRedo is FinishedUndo for a redo.
func (s *Restorer) FinishedRedo(ctx context.Context, issue checkpoint.Issue) (*Undone, error) {
	return s.finished(ctx, issue, repo.RedoPrefix)
}

func (s *Restorer) finished(ctx context.Context, issue checkpoint.Issue, prefix string) (*Undone, error) {
	var finished []refs.Note
	err := s.repo.WithIssueLock(ctx, issue, func() error {
		if finished = s.repo.Finished; len(finished) > 0 {
			s.repo.IssueLock.Settled(issue.RefName())
			return nil
		}
		_ = s.chain.RestoreOwnChain(ctx, issue) // so that the newest operation is known; Alter repeats it
		return ctx.Err()
	})
	if err != nil || len(finished) == 0 || !strings.HasPrefix(finished[0].Message, prefix) {
		return nil, err
	}
	entries, err := s.repo.Reflog(ctx, repo.LiveRef(issue))
	if err != nil || len(entries) == 0 || !strings.HasPrefix(entries[0].Message, prefix) {
		return nil, err
	}
	done := &Undone{What: undone(entries), At: entries[0].At}
	if prefix == repo.RedoPrefix {
		done.What = removal(entries[0].Message)
	}
	for _, ref := range []string{repo.LiveRef(issue), repo.ArchiveRef(issue)} {
		for _, m := range finished[0].Moves {
			if m.Name != ref {
				continue
			}
			old, new := m.New, m.Old
			if prefix == repo.RedoPrefix {
				old, new = new, old
			}
			back, _, err := s.leftOut(issue, ref, old, new)
			if err != nil {
				return nil, err
			}
			done.IDs = append(done.IDs, idsOf(back)...)
		}
	}
	return done, nil
}

// undoRemoval restores checkpoints that a move removed from the chain, and, in the same
// transaction, from the archive. If all of them are present, it changes nothing.
func (s *Restorer) undoRemoval(ctx context.Context, issue checkpoint.Issue, e refs.Logged) (ids []checkpoint.ID, err error) {
	err = s.chain.Alter(ctx, issue, func(c *chain.Chain, k *repo.ObjectWriter) (*chain.Change, error) {
		ids = nil
		archive, err := s.chain.ReadChain(ctx, issue, repo.ArchiveRef(issue), 0)
		if err != nil {
			return nil, err
		}
		lost, err := s.removedBy(ctx, c, archive, e)
		if err != nil || len(lost.live)+len(lost.archived) == 0 {
			return nil, err
		}
		ids = lost.ids()
		gone := chain.SetOf(idsOf(lost.live))
		links := slices.DeleteFunc(slices.Clone(archive.Commits), func(l chain.ChainCommit) bool { return gone[l.ID] })
		if archive.Cut && len(links)+len(lost.archived) != len(archive.Commits) {
			return nil, archive.ReadOnly()
		}
		there := c.Index() // of a shallow chain nothing was removed
		missing := slices.DeleteFunc(slices.Clone(lost.live), func(l chain.ChainCommit) bool { return there[l.ID] != nil })
		ch := &chain.Change{Verb: "undo", Ids: ids, Insert: missing, Ledger: lost.revive, Below: lost.below}
		if links = chain.Merge(links, lost.archived); len(links) > 0 || !archive.Tip.IsZero() {
			ch.Then = s.chain.ArchiveMove(archive, links, k)
		}
		return ch, nil
	})
	if err != nil {
		return nil, fmt.Errorf("undo the last %s of issue %s: %w", removal(e.Message), issue, err)
	}
	s.warnRemovedAtRemotes(ctx, issue, ids)
	return ids, nil
}

// A removed holds checkpoints that a removal deleted and that are still missing, newest
// first, and the ledger from before the removal.
type removed struct {
	live     []chain.ChainCommit // were in the chain
	archived []chain.ChainCommit // were in the archive, and not moved there by this removal
	ledger   *ledger.Ledger
	below    *chain.Below // takes back the removal of checkpoints below a shallow boundary
}

// ids returns the ids of all checkpoints.
func (r *removed) ids() []checkpoint.ID { return append(idsOf(r.live), idsOf(r.archived)...) }

// removedBy returns checkpoints that a removal took from chain and archive.
func (s *Restorer) removedBy(ctx context.Context, c, archive *chain.Chain, e refs.Logged) (*removed, error) {
	r := &removed{}
	var err error
	if r.live, r.ledger, err = s.leftOut(c.Issue, c.Ref, e.Old, e.New); err != nil {
		return nil, err
	}
	if after, err := s.chain.Walk(c.Issue, c.Ref, e.New, 1); err == nil && c.Cut {
		r.below = chain.CancelBelow(after)
	}
	if removal(e.Message) != "archive" {
		moves, err := s.repo.Reflog(ctx, archive.Ref)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(moves, sameMove(e)); i >= 0 {
			if r.archived, _, err = s.leftOut(c.Issue, archive.Ref, moves[i].Old, moves[i].New); err != nil {
				return nil, err
			}
		}
	}
	// Checkpoints that were restored already, or deleted permanently by a later drop, are not
	// missing.
	live, archived := c.Visible(), archive.Index()
	r.live = slices.DeleteFunc(r.live, func(l chain.ChainCommit) bool {
		return live[l.ID] != nil || removal(e.Message) != "drop" && c.Ledger.Deletes(l.ID, l.Content)
	})
	coming := chain.SetOf(idsOf(r.live))
	r.archived = slices.DeleteFunc(r.archived, func(l chain.ChainCommit) bool {
		return coming[l.ID] || live[l.ID] != nil || archived[l.ID] != nil
	})
	return r, nil
}

// sameMove returns a predicate for the entries of the same transaction in another reflog.
func sameMove(e refs.Logged) func(refs.Logged) bool {
	return func(m refs.Logged) bool { return m.Message == e.Message && m.At.Equal(e.At) }
}

// leftOut returns the checkpoints that a chain had at the old tip and lacks at the new
// tip, and the ledger at the old tip.
func (s *Restorer) leftOut(issue checkpoint.Issue, ref string, old, new plumbing.Hash) ([]chain.ChainCommit, *ledger.Ledger, error) {
	before, err := s.chain.Walk(issue, ref, old, 0)
	if err != nil {
		return nil, nil, err
	}
	after, err := s.chain.Walk(issue, ref, new, 0)
	if err != nil {
		return nil, nil, err
	}
	still := after.Visible()
	return slices.DeleteFunc(before.Commits, func(l chain.ChainCommit) bool {
		return l.Ledger || l.ID == "" || l.Gone || still[l.ID] != nil
	}), before.Ledger, nil
}

// revive restores the old ledger entries of the removed checkpoints.
func (r *removed) revive(l *ledger.Ledger) {
	for _, id := range r.ids() {
		l.Revive(id)
		l.Copy(r.ledger, id, ledger.Pin)
	}
	for _, id := range idsOf(r.archived) {
		l.Copy(r.ledger, id, ledger.Archived, ledger.Reason)
	}
}

func idsOf(links []chain.ChainCommit) []checkpoint.ID {
	ids := make([]checkpoint.ID, len(links))
	for i := range links {
		ids[i] = links[i].ID
	}
	return ids
}

// warnRemovedAtRemotes warns about restored checkpoints that a remote's ledger marks as
// removed, because the next sync removes them again. A pin overrides a pruning, but
// nothing overrides a drop.
func (s *Restorer) warnRemovedAtRemotes(ctx context.Context, i checkpoint.Issue, ids []checkpoint.ID) {
	tracking, err := s.repo.TrackingRefs(ctx, i)
	if err != nil {
		return
	}
	for name, tip := range tracking {
		remote := strings.TrimSuffix(strings.TrimPrefix(name, repo.RemoteRefs), "/"+i.RefName())
		theirs, err := s.chain.Walk(i, name, tip, 1)
		if err != nil {
			continue
		}
		for _, id := range ids {
			switch l := theirs.Ledger; {
			case l.HasDeleted(id) || l.IsArchived(id):
				s.repo.Notify("%s is recorded as dropped at %s: the next sync removes it again", id, remote)
			case l.Dead(id, ledger.AnyContent):
				s.repo.Notify("%s is recorded as pruned at %s: the next sync removes it again, unless it is pinned", id, remote)
			}
		}
	}
}

// Preview returns what Undo would revert now, and changes nothing. Restored then has the
// checkpoint of the restore, and the paths that Undo would write or leave.
// Preview fails with ErrNothingToUndo.
func (s *Restorer) Preview(ctx context.Context, issue checkpoint.Issue) (*Undone, error) {
	return s.preview(ctx, issue, s.nextUndo)
}

// PreviewRedo returns what Redo would do now, and changes nothing. It fails with
// ErrNothingToRedo.
func (s *Restorer) PreviewRedo(ctx context.Context, issue checkpoint.Issue) (*Undone, error) {
	return s.preview(ctx, issue, s.nextRedo)
}

func (s *Restorer) preview(ctx context.Context, issue checkpoint.Issue, next func(context.Context, checkpoint.Issue) (*operation, error)) (*Undone, error) {
	o, err := next(ctx, issue)
	if err != nil {
		return nil, err
	}
	p := &Undone{What: o.what, At: o.at, IDs: o.ids, key: o.key()}
	if p.Commits, p.Saves, err = s.since(ctx, o); err != nil || o.snapshot == nil {
		return p, err
	}
	steps, err := o.snapshot.steps()
	if err != nil {
		return nil, err
	}
	outcome, err := s.siteSince(o.snapshot).PlanBack(ctx, steps)
	if err != nil {
		return nil, refusal(err)
	}
	p.Restored = &Restored{ID: o.snapshot.plan.Checkpoint, Undo: o.snapshot.ref, Outcome: *outcome}
	return p, nil
}
