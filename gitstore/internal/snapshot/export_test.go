package snapshot

import (
	"context"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// OutOfTime is the reason for files skipped after the time limit.
const OutOfTime = checkpoint.OutOfTime

// A State is the result of Take.
type State struct {
	checkpoint.Snapshot
	Tree, Staged plumbing.Hash
	User         userIndex
	Unstaged     []trees.Change
	Left         []string
	Cut          bool
}

// Take takes the state of the worktree, without the steps that follow it in a save.
func (s *Capturer) Take(ctx context.Context, req Request, k *repo.ObjectWriter) (*State, error) {
	t, err := s.take(ctx, req, k)
	if err != nil {
		return nil, err
	}
	return &State{t.Facts, t.tree, t.Staged, t.user, t.unstaged, t.left, t.cut}, nil
}
