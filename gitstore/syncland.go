package gitstore

import (
	"context"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// land moves the refs here, in one transaction, from what the plans saw. Where
// that fails, each issue has one of its own: what is wrong with one of them is
// not wrong with the others.
func (y *syncing) land(ctx context.Context, plans []*syncPlan, outcome outcomes) {
	err := y.landTogether(ctx, plans, outcome)
	if err == nil {
		return
	}
	for _, p := range plans {
		if len(plans) == 1 {
			outcome[p.issue] = err
		} else if outcome[p.issue] == nil {
			y.land(ctx, []*syncPlan{p}, outcome)
		}
	}
}

// landTogether leaves out issues that have moved meanwhile, and says so.
func (y *syncing) landTogether(ctx context.Context, plans []*syncPlan, outcome outcomes) error {
	issues := make([]checkpoint.Issue, len(plans))
	for n, p := range plans {
		issues[n] = p.issue
	}
	return y.s.inTurns(ctx, issues, func() error {
		y.s.refs.Hold()
		defer y.s.refs.Let()
		var list []refMove
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
		if err := y.s.publishMany(ctx, k, "sync: "+ShownRemote(y.line.Remote), list); err != nil {
			return err
		}
		return k.protect(ctx)
	})
}

// moves are those of an issue, whose refs have to be where its plan saw them.
func (y *syncing) moves(ctx context.Context, p *syncPlan) ([]refMove, error) {
	s := y.s
	tracking := s.trackingRef(y.line.Remote, p.issue)
	tracked, err := s.readRef(ctx, tracking)
	if err != nil {
		return nil, err
	}
	list := append(p.archive.move(p.issue),
		refMove{LiveRef(p.issue), p.live.tip, p.tip},
		refMove{ownRef(p.issue), p.own.tip, p.tip})
	for _, m := range list {
		now, err := s.readRef(ctx, m.name)
		if err != nil {
			return nil, err
		}
		if now != m.old {
			return nil, fmt.Errorf("%w: %s is at %s", errLost, m.name, now)
		}
	}
	list = append(list, refMove{tracking, tracked, p.tip})
	return slices.DeleteFunc(list, func(m refMove) bool { return m.old == m.new }), nil
}
