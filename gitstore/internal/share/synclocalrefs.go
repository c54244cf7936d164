package share

import (
	"context"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
)

// updateLocalRefs moves local refs of plans in one transaction, from values that the
// plans read. If this fails, it moves the refs of each issue in a separate transaction,
// since the error may concern only one issue.
func (y *Syncing) updateLocalRefs(ctx context.Context, plans []*syncPlan, outcome errorsByIssue) {
	err := y.updateLocalRefsTogether(ctx, plans, outcome)
	if err == nil {
		return
	}
	for _, p := range plans {
		switch {
		case len(plans) == 1:
			outcome[p.issue] = err
		case outcome[p.issue] != nil:
		case repo.IsDone(err): // its refs have moved already
			outcome[p.issue] = err
		default:
			y.updateLocalRefs(ctx, []*syncPlan{p}, outcome)
		}
	}
}

// updateLocalRefsTogether moves the local refs of plans in one transaction. It omits
// issues whose refs moved concurrently, and adds errors to outcome.
func (y *Syncing) updateLocalRefsTogether(ctx context.Context, plans []*syncPlan, outcome errorsByIssue) error {
	issues := make([]checkpoint.Issue, len(plans))
	for n, p := range plans {
		issues[n] = p.issue
	}
	return y.Sharer.WithIssueLocks(ctx, issues, func() error {
		y.Sharer.Refs.Hold()
		defer y.Sharer.Refs.Let()
		var list []refs.Move
		for _, p := range plans {
			moves, err := y.moves(ctx, p)
			if err != nil {
				outcome[p.issue] = err
			}
			list = append(list, moves...)
		}
		if len(list) == 0 {
			return nil
		}
		k := plans[0].k
		if err := y.Sharer.PublishMany(ctx, k, "sync: "+chain.ShownRemote(y.Conn.Remote), list); err != nil {
			return err
		}
		if err := k.Protect(ctx); err != nil {
			return err
		}
		y.Sharer.forgetTracked(ctx, list)
		return nil
	})
}

// moves returns the moves of an issue. It fails if a ref has another value than in the
// plan.
func (y *Syncing) moves(ctx context.Context, p *syncPlan) ([]refs.Move, error) {
	s := y.Sharer
	tracking := s.TrackingRef(y.Conn.Remote, p.issue)
	tracked, err := s.ReadRef(ctx, tracking)
	if err != nil {
		return nil, err
	}
	list := append(p.archive.Move(p.issue),
		refs.Move{Name: repo.LiveRef(p.issue), Old: p.live.Tip, New: p.tip},
		refs.Move{Name: repo.OwnRef(p.issue), Old: p.own.Tip, New: p.tip})
	for _, m := range list {
		now, err := s.ReadRef(ctx, m.Name)
		if err != nil {
			return nil, err
		}
		if now != m.Old {
			return nil, fmt.Errorf("%w: %s is at %s", repo.ErrRefMoved, m.Name, now)
		}
	}
	list = append(list, refs.Move{Name: tracking, Old: tracked, New: p.tip})
	return slices.DeleteFunc(list, func(m refs.Move) bool { return m.Old == m.New }), nil
}
