package undo

import (
	"context"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
)

// Preview returns what Undo would revert now, and changes nothing. Restored then has the
// checkpoint of the restore and the paths that it wrote. Preview fails with
// ErrNothingToUndo.
func (s *Restorer) Preview(ctx context.Context, issue checkpoint.Issue) (*Undone, error) {
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
		c, err := s.ReadChain(ctx, issue, repo.LiveRef(issue), 0)
		if err != nil {
			return nil, err
		}
		archive, err := s.ReadChain(ctx, issue, repo.ArchiveRef(issue), 0)
		if err != nil {
			return nil, err
		}
		lost, err := s.removedBy(ctx, c, archive, e)
		if err != nil {
			return nil, err
		}
		if ids := append(idsOf(lost.live), idsOf(lost.archived)...); len(ids) > 0 {
			return &Undone{What: removal(e.Message), IDs: ids}, nil
		}
	}
	if snapshot == nil {
		return nil, fmt.Errorf("undo for issue %s: %w", issue, repo.ErrNothingToUndo)
	}
	done := &Restored{ID: snapshot.plan.Checkpoint, Undo: snapshot.ref}
	for _, step := range snapshot.plan.Steps {
		done.Restored = append(done.Restored, step.Path)
	}
	return &Undone{What: "restore", Restored: done}, nil
}
