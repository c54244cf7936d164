package share

import (
	"context"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
)

// A localUpdate moves the local refs to the fetched tips.
type localUpdate struct {
	s       *Sharer
	conn    *conn
	fetched fetched
	names   *chain.Names
}

// updateAll moves the refs of issues in one transaction. If this fails, it moves the refs
// of each issue in a separate transaction.
func (t *localUpdate) updateAll(ctx context.Context, issues []checkpoint.Issue) []chain.Synced {
	done := make([]chain.Synced, len(issues))
	if len(issues) > 1 {
		err := t.s.WithIssueLocks(ctx, issues, func() error { return t.updateTogether(ctx, issues, done) })
		if err == nil {
			return done
		}
		if repo.IsDone(err) { // the refs have moved already
			for n, i := range issues {
				done[n].Result, done[n].Err = chain.Failed, fmt.Errorf("fetch issue %s: %w", i, err)
			}
			return done
		}
	}
	for n, i := range issues {
		done[n] = t.update(ctx, i)
	}
	return done
}

// updateTogether moves refs of all issues in one transaction. A single failing issue
// fails all.
func (t *localUpdate) updateTogether(ctx context.Context, issues []checkpoint.Issue, done []chain.Synced) error {
	t.s.Refs.Hold()
	defer t.s.Refs.Let()
	var list []refs.Move
	for n, i := range issues {
		done[n] = chain.Synced{Issue: i}
		if err := t.s.RestoreOwnChain(ctx, i); err != nil {
			return err
		}
		moves, err := t.moves(ctx, &done[n])
		if err != nil {
			return err
		}
		list = append(list, moves...)
	}
	if len(list) == 0 {
		return nil
	}
	if err := t.s.PublishMany(ctx, t.s.NewObjectWriter(), t.message(), list); err != nil {
		return err
	}
	t.s.forgetTracked(ctx, list)
	return nil
}

func (t *localUpdate) message() string { return "fetch: " + chain.ShownRemote(t.conn.Remote) }

// update moves the refs of one issue.
func (t *localUpdate) update(ctx context.Context, i checkpoint.Issue) chain.Synced {
	done := chain.Synced{Issue: i}
	err := t.s.Retry(ctx, i, func() error {
		moves, err := t.moves(ctx, &done)
		if err != nil || len(moves) == 0 {
			return err
		}
		err = t.s.Publish(ctx, t.s.NewObjectWriter(), t.message(), func() ([]refs.Move, error) { return moves, nil })
		if err != nil {
			return err
		}
		t.s.forgetTracked(ctx, moves)
		return nil
	})
	if err != nil {
		done.Result, done.Err = chain.Failed, fmt.Errorf("fetch issue %s: %w", i, err)
	}
	return done
}

// moves returns the ref moves for one locked issue, and sets its result.
func (t *localUpdate) moves(ctx context.Context, done *chain.Synced) (moves []refs.Move, err error) {
	s, i := t.s, done.Issue
	if err := t.fetched[i].Err; err != nil {
		return nil, err
	}
	tip := t.fetched[i].Tip
	if tip.IsZero() {
		done.Result = chain.Absent
		return nil, nil
	}
	ours, err := s.chainHere(ctx, i)
	if err != nil {
		return nil, err
	}
	theirs, err := s.theirChain(t.conn.Remote, i, tip)
	if err != nil {
		return nil, err
	}
	tracking := s.TrackingRef(t.conn.Remote, i)
	tracked, err := s.ReadRef(ctx, tracking)
	if err != nil {
		return nil, err
	}
	done.Fetched = 0
	switch chain.Relate(ours, theirs) {
	case chain.RelationSame:
		done.Result = chain.UpToDate
		moves, err = s.restoreLiveRef(ctx, ours)
	case chain.RelationAhead:
		done.Result = chain.Ahead
		moves, err = s.restoreLiveRef(ctx, ours)
	case chain.RelationBehind:
		done.Result, done.Fetched = chain.Fetched, theirs.Without(ours)
		moves, err = s.adopt(ctx, ours, theirs, t.names)
	default:
		done.Result, done.Err = chain.Diverged, s.divergence("fetch", t.conn.Remote, i)
	}
	if err == nil && tracked != tip {
		moves = append(moves, refs.Move{Name: tracking, Old: tracked, New: tip})
	}
	return moves, err
}
