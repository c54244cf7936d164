package gitstore

import (
	"context"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/refs"
)

// updateLocalRefs moves local refs of plans in one transaction, from values that the
// plans read. If this fails, it moves the refs of each issue in a separate transaction,
// since the error may concern only one issue.
func (y *syncing) updateLocalRefs(ctx context.Context, plans []*syncPlan, outcome errorsByIssue) {
	err := y.updateLocalRefsTogether(ctx, plans, outcome)
	if err == nil {
		return
	}
	for _, p := range plans {
		switch {
		case len(plans) == 1:
			outcome[p.issue] = err
		case outcome[p.issue] != nil:
		case isDone(err): // its refs have moved already
			outcome[p.issue] = err
		default:
			y.updateLocalRefs(ctx, []*syncPlan{p}, outcome)
		}
	}
}

// updateLocalRefsTogether moves the local refs of plans in one transaction. It omits
// issues whose refs moved concurrently, and adds errors to outcome.
func (y *syncing) updateLocalRefsTogether(ctx context.Context, plans []*syncPlan, outcome errorsByIssue) error {
	issues := make([]checkpoint.Issue, len(plans))
	for n, p := range plans {
		issues[n] = p.issue
	}
	return y.s.withIssueLocks(ctx, issues, func() error {
		y.s.refs.Hold()
		defer y.s.refs.Let()
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
		if err := y.s.publishMany(ctx, k, "sync: "+ShownRemote(y.conn.Remote), list); err != nil {
			return err
		}
		if err := k.protect(ctx); err != nil {
			return err
		}
		y.s.forgetTracked(ctx, list)
		return nil
	})
}

// moves returns the moves of an issue. It fails if a ref has another value than in the
// plan.
func (y *syncing) moves(ctx context.Context, p *syncPlan) ([]refs.Move, error) {
	s := y.s
	tracking := s.trackingRef(y.conn.Remote, p.issue)
	tracked, err := s.readRef(ctx, tracking)
	if err != nil {
		return nil, err
	}
	list := append(p.archive.move(p.issue),
		refs.Move{Name: LiveRef(p.issue), Old: p.live.tip, New: p.tip},
		refs.Move{Name: ownRef(p.issue), Old: p.own.tip, New: p.tip})
	for _, m := range list {
		now, err := s.readRef(ctx, m.Name)
		if err != nil {
			return nil, err
		}
		if now != m.Old {
			return nil, fmt.Errorf("%w: %s is at %s", errRefMoved, m.Name, now)
		}
	}
	list = append(list, refs.Move{Name: tracking, Old: tracked, New: p.tip})
	return slices.DeleteFunc(list, func(m refs.Move) bool { return m.Old == m.New }), nil
}
