package undo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
)

// An Undone is the result of Undo.
type Undone struct {
	What     string          // restore, prune, drop or archive
	IDs      []checkpoint.ID // checkpoints that were restored to the chain
	Restored *Restored       // set for a restore
}

// Undo reverts this clone's last restore, prune, drop or archive of an issue. Removed
// checkpoints return to their former place, and later saves stay. Undo fails with
// ErrNothingToUndo.
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

// removal returns a reflog message's kind of removal, or "" for other moves.
func removal(message string) string {
	for _, verb := range []string{"prune", "drop", "archive"} {
		if strings.HasPrefix(message, verb+": ") {
			return verb
		}
	}
	if strings.HasPrefix(message, "save: ") && strings.Contains(message, "; prune: ") {
		return "prune"
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
		ch := &chain.Change{Verb: "undo", Ids: done.IDs, Insert: lost.live, Ledger: lost.revive}
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
