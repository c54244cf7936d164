package undo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// An Undone is the result of Undo.
type Undone struct {
	What     string          // restore, prune, drop or archive
	IDs      []checkpoint.ID // checkpoints that were restored to the chain
	Restored *Restored       // set for a restore
}

// Undo reverts this clone's last restore, prune, drop or archive of an issue. Removed
// checkpoints return to their former place, and later saves stay, with their pruning. Undo
// fails with ErrNothingToUndo.
func (s *Restorer) Undo(ctx context.Context, issue checkpoint.Issue) (*Undone, error) {
	if done, err := s.finishedUndo(ctx, issue); err != nil || done != nil {
		return done, err
	}
	removals, err := s.removals(ctx, issue)
	if err != nil {
		return nil, err
	}
	snapshot, err := s.lastSafety(ctx, issue)
	if err != nil {
		return nil, err
	}
	for _, e := range removals {
		if snapshot != nil && snapshot.at.After(e.At) {
			break
		}
		if done, err := s.undoRemoval(ctx, issue, e); err != nil || len(done.IDs) > 0 {
			return done, err
		}
	}
	if snapshot != nil {
		restored, err := s.undoRestore(ctx, snapshot)
		return &Undone{What: "restore", Restored: restored}, err
	}
	return nil, fmt.Errorf("undo for issue %s: %w", issue, repo.ErrNothingToUndo)
}

// finishedUndo returns the result of an undo killed after its refs had moved, or nil. The
// user does not know that it succeeded, and repeats the command.
func (s *Restorer) finishedUndo(ctx context.Context, issue checkpoint.Issue) (*Undone, error) {
	var finished []refs.Note
	err := s.WithIssueLock(ctx, issue, func() error {
		if finished = s.Finished; len(finished) > 0 {
			s.IssueLock.Settled(issue.RefName())
		}
		return nil
	})
	if err != nil || len(finished) == 0 || !strings.HasPrefix(finished[0].Message, repo.UndoPrefix) {
		return nil, err
	}
	entries, err := s.Reflog(ctx, repo.LiveRef(issue))
	if err != nil || len(entries) == 0 || !strings.HasPrefix(entries[0].Message, repo.UndoPrefix) {
		return nil, err
	}
	done := &Undone{What: undone(entries)}
	for _, ref := range []string{repo.LiveRef(issue), repo.ArchiveRef(issue)} {
		for _, m := range finished[0].Moves {
			if m.Name != ref {
				continue
			}
			back, _, err := s.leftOut(issue, ref, m.New, m.Old)
			if err != nil {
				return nil, err
			}
			done.IDs = append(done.IDs, idsOf(back)...)
		}
	}
	return done, nil
}

// undone returns the kind of removal that the newest undo entry has reverted. Undos pair
// with removals like brackets.
func undone(entries []refs.Logged) string {
	open := 0
	for _, e := range entries {
		what := removal(e.Message)
		switch {
		case strings.HasPrefix(e.Message, repo.UndoPrefix):
			open++
		case what == "":
		case open == 1:
			return what
		default:
			open--
		}
	}
	return "removal"
}

// removals returns removals in the chain's reflog that were not undone, newest first.
// Every undo reverts the newest removal below it, so undos pair with removals like
// brackets.
func (s *Restorer) removals(ctx context.Context, issue checkpoint.Issue) ([]refs.Logged, error) {
	entries, err := s.Reflog(ctx, repo.LiveRef(issue))
	if err != nil {
		return nil, err
	}
	var open []refs.Logged
	undone := 0
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Message, repo.UndoPrefix):
			undone++
		case removal(e.Message) == "":
		case undone > 0:
			undone--
		default:
			open = append(open, e)
		}
	}
	return open, nil
}

// removal returns the kind of removal of a reflog message, or "" for other moves. Undo does
// not revert a save, so the pruning of a save is none.
func removal(message string) string {
	for _, verb := range []string{"prune", "drop", "archive"} {
		if strings.HasPrefix(message, verb+": ") {
			return verb
		}
	}
	return ""
}

// undoRemoval restores checkpoints that a move removed from the chain, and, in the same
// transaction, from the archive. If all of them are present, it changes nothing.
func (s *Restorer) undoRemoval(ctx context.Context, issue checkpoint.Issue, e refs.Logged) (*Undone, error) {
	done := &Undone{What: removal(e.Message)}
	err := s.Alter(ctx, issue, func(c *chain.Chain, k *repo.ObjectWriter) (*chain.Change, error) {
		done.IDs = nil
		archive, err := s.ReadChain(ctx, issue, repo.ArchiveRef(issue), 0)
		if err != nil {
			return nil, err
		}
		lost, err := s.removedBy(ctx, c, archive, e)
		if err != nil || len(lost.live)+len(lost.archived) == 0 {
			return nil, err
		}
		for _, l := range append(slices.Clone(lost.live), lost.archived...) {
			done.IDs = append(done.IDs, l.ID)
		}
		gone := chain.SetOf(idsOf(lost.live))
		links := slices.DeleteFunc(slices.Clone(archive.Commits), func(l chain.ChainCommit) bool { return gone[l.ID] })
		if archive.Cut && len(links)+len(lost.archived) != len(archive.Commits) {
			return nil, archive.ReadOnly()
		}
		there := c.Index() // of a shallow chain nothing was removed
		missing := slices.DeleteFunc(slices.Clone(lost.live), func(l chain.ChainCommit) bool { return there[l.ID] != nil })
		ch := &chain.Change{Verb: "undo", Ids: done.IDs, Insert: missing, Ledger: lost.revive, Below: lost.below}
		if links = chain.Merge(links, lost.archived); len(links) > 0 || !archive.Tip.IsZero() {
			ch.Then = s.ArchiveMove(archive, links, k)
		}
		return ch, nil
	})
	if err != nil {
		return nil, fmt.Errorf("undo the last %s of issue %s: %w", done.What, issue, err)
	}
	s.warnRemovedAtRemotes(ctx, issue, done.IDs)
	return done, nil
}

// undoRestore reverts a completed restore and deletes its snapshot.
func (s *Restorer) undoRestore(ctx context.Context, sf *safety) (*Restored, error) {
	release, err := s.lockWorktree()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.finishPending(ctx); err != nil {
		return nil, err
	}
	done, err := s.takeBack(ctx, sf)
	if err == nil || repo.IsDone(err) || errors.As(err, new(*repo.RefusedError)) {
		return done, err
	}
	return done, &repo.UnfinishedError{Err: err}
}

// takeBack reverts every path that still has the content from the restore, and deletes
// the snapshot.
func (s *Restorer) takeBack(ctx context.Context, sf *safety) (*Restored, error) {
	steps, err := sf.steps()
	if err != nil {
		return nil, err
	}
	outcome, err := s.site(s.NewObjectWriter()).TakeBack(ctx, steps)
	done := &Restored{ID: sf.plan.Checkpoint, Outcome: *outcome}
	if err != nil {
		return done, refusal(err)
	}
	return done, repo.AfterMove(s.forget(ctx, sf, len(done.Skipped) > 0))
}

// A removed holds checkpoints that a removal deleted and that are still missing, newest
// first, and the ledger from before the removal.
type removed struct {
	live     []chain.ChainCommit // were in the chain
	archived []chain.ChainCommit // were in the archive, and not moved there by this removal
	ledger   *ledger.Ledger
	below    *chain.Below // takes back the removal of checkpoints below a shallow boundary
}

// removedBy returns checkpoints that a removal took from chain and archive.
func (s *Restorer) removedBy(ctx context.Context, c, archive *chain.Chain, e refs.Logged) (*removed, error) {
	r := &removed{}
	var err error
	if r.live, r.ledger, err = s.leftOut(c.Issue, c.Ref, e.Old, e.New); err != nil {
		return nil, err
	}
	if after, err := s.Walk(c.Issue, c.Ref, e.New, 1); err == nil && c.Cut {
		r.below = chain.CancelBelow(after)
	}
	if removal(e.Message) != "archive" {
		moves, err := s.Reflog(ctx, archive.Ref)
		if err != nil {
			return nil, err
		}
		same := func(m refs.Logged) bool { return m.Message == e.Message && m.At.Equal(e.At) }
		if i := slices.IndexFunc(moves, same); i >= 0 {
			if r.archived, _, err = s.leftOut(c.Issue, archive.Ref, moves[i].Old, moves[i].New); err != nil {
				return nil, err
			}
		}
	}
	r.keepLost(c, archive, removal(e.Message) == "drop")
	return r, nil
}

// leftOut returns the checkpoints that a chain had at the old tip and lacks at the new
// tip, and the ledger at the old tip.
func (s *Restorer) leftOut(issue checkpoint.Issue, ref string, old, new plumbing.Hash) ([]chain.ChainCommit, *ledger.Ledger, error) {
	before, err := s.Walk(issue, ref, old, 0)
	if err != nil {
		return nil, nil, err
	}
	after, err := s.Walk(issue, ref, new, 0)
	if err != nil {
		return nil, nil, err
	}
	still := after.Visible()
	return slices.DeleteFunc(before.Commits, func(l chain.ChainCommit) bool {
		return l.Ledger || l.ID == "" || l.Gone || still[l.ID] != nil
	}), before.Ledger, nil
}

// keepLost removes checkpoints from r that were restored already, or deleted permanently
// by a later drop.
func (r *removed) keepLost(c, archive *chain.Chain, drop bool) {
	live, archived := c.Visible(), archive.Index()
	r.live = slices.DeleteFunc(r.live, func(l chain.ChainCommit) bool {
		return live[l.ID] != nil || !drop && c.Ledger.Deleted[l.ID]
	})
	coming := chain.SetOf(idsOf(r.live))
	r.archived = slices.DeleteFunc(r.archived, func(l chain.ChainCommit) bool {
		return coming[l.ID] || live[l.ID] != nil || archived[l.ID] != nil
	})
}

// revive restores the old ledger entries of the removed checkpoints.
func (r *removed) revive(l *ledger.Ledger) {
	for _, id := range idsOf(append(slices.Clone(r.live), r.archived...)) {
		delete(l.Deleted, id)
		delete(l.Archived, id)
		delete(l.Pruned, id)
		if pin, ok := r.ledger.Pins[id]; ok && l.Pins[id].Clock <= pin.Clock {
			l.Pins[id] = pin
		}
	}
	for _, id := range idsOf(r.archived) {
		l.Archived[id] = r.ledger.Archived[id]
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
	refs, err := s.Refs.List(ctx, repo.RemoteRefs)
	if err != nil {
		return
	}
	for name, tip := range refs {
		remote, found := strings.CutSuffix(strings.TrimPrefix(name, repo.RemoteRefs), "/"+i.RefName())
		if !found {
			continue
		}
		theirs, err := s.Walk(i, name, tip, 1)
		if err != nil {
			continue
		}
		for _, id := range ids {
			switch l := theirs.Ledger; {
			case l.Deleted[id] || l.IsArchived(id):
				s.Notify("%s is recorded as dropped at %s: the next sync removes it again", id, remote)
			case l.Dead(id):
				s.Notify("%s is recorded as pruned at %s: the next sync removes it again, unless it is pinned", id, remote)
			}
		}
	}
}
