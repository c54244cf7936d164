package work

import (
	"context"
	"time"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// Attempt compares the newest state of an issue with the source of a fork, f. Without a source, or
// if it is lost, changes and time are unknown, and turns and tokens are those of the issue.
func Attempt(ctx context.Context, s *gitstore.Store, cp *gitstore.Checkpoint, r *checkpoint.Record, f checkpoint.Fork) *view.Attempt {
	turn := r.AgentTurn()
	a := &view.Attempt{Issue: cp.Issue, ID: cp.ID, Since: -1, Turns: turn.Number, Tokens: checkpoint.SumOf(turn.Spent)}
	if f.Issue == "" {
		return a
	}
	if source, err := s.ForkSource(ctx, cp.Issue, f); err == nil {
		a.Change = s.Files.TotalsOf(ctx, []gitstore.Pair{{From: source, To: cp}})[0]
		if before, err := s.Record(source); err == nil {
			a.Turns = max(a.Turns-before.AgentTurn().Number, 0)
			a.Tokens = a.Tokens.Minus(checkpoint.SumOf(before.AgentTurn().Spent))
		}
	}
	if at, err := forkedAt(ctx, s, cp.Issue, f); err == nil {
		a.Since = max(cp.Created.Sub(at), 0)
	}
	return a
}

// forkedAt returns the time of a fork: that of its first checkpoint, or of the source itself.
func forkedAt(ctx context.Context, s *gitstore.Store, i checkpoint.Issue, f checkpoint.Fork) (time.Time, error) {
	first, err := s.Find(ctx, i, gitstore.First)
	if i == f.Issue {
		first, err = s.ByID(ctx, i, f.ID)
	}
	if err != nil {
		return time.Time{}, err
	}
	return first.Created, nil
}
