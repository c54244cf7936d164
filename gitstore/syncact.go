package gitstore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"git-checkpoint/gitstore/checkpoint"
)

// pushAtOnce bounds how many refs one git pushes: they stand in its arguments.
const pushAtOnce = 100

// act does what plans say, the remote first. It returns the issues for which
// something moved meanwhile.
func (y *syncing) act(ctx context.Context, plans []*syncPlan) (again []checkpoint.Issue, err error) {
	for some := range slices.Chunk(plans, pushAtOnce) {
		refused, err := y.push(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, p := range some {
			err := y.settle(ctx, p, refused[p.issue])
			switch {
			case errors.Is(err, errStale) || errors.Is(err, errLost):
				again = append(again, p.issue)
			case err != nil:
				y.fail(p.issue, err)
			default:
				y.done[p.issue] = &p.done
			}
		}
	}
	return again, nil
}

// push sends what the remote does not have, archives first: what left a chain
// for one has to be in it, whatever happens.
func (y *syncing) push(ctx context.Context, plans []*syncPlan) (refused map[checkpoint.Issue]error, err error) {
	refused = map[checkpoint.Issue]error{}
	if y.dryRun {
		return refused, nil
	}
	fetched := sync.OnceValue(func() Exposed { return y.s.Fetched(ctx) })
	for _, p := range plans {
		if err := p.k.flush(ctx); err != nil {
			refused[p.issue] = err
		} else if err := y.allowed(ctx, p, fetched); err != nil {
			refused[p.issue] = err
		}
	}
	err = y.send(ctx, plans, refused, func(p *syncPlan) []gift { return p.archive.gift(p.issue) })
	if err != nil {
		return refused, err
	}
	return refused, y.send(ctx, plans, refused, (*syncPlan).gift)
}

// gift is the chain, where the remote has not got it.
func (p *syncPlan) gift() []gift {
	if p.tip.IsZero() || p.tip == p.theirs.tip {
		return nil
	}
	return []gift{{LiveRef(p.issue), p.tip, p.theirs.tip}}
}

// A heldError is why an issue may not be shown.
type heldError struct{ error }

func (e *heldError) Unwrap() error { return e.error }

// allowed asks whether what goes to the remote may be shown to it, beside what
// was fetched.
func (y *syncing) allowed(ctx context.Context, p *syncPlan, fetched func() Exposed) error {
	gifts := append(p.archive.gift(p.issue), p.gift()...)
	if y.may == nil || len(gifts) == 0 {
		return nil
	}
	out, err := y.s.showing(ctx, y.line.remote, fetched(), gifts...)
	if err != nil {
		return err
	}
	if err := y.may(p.issue, out); err != nil {
		return &heldError{err}
	}
	return nil
}

// send pushes one ref of each issue that was not refused yet.
func (y *syncing) send(ctx context.Context, plans []*syncPlan, refused map[checkpoint.Issue]error, of func(*syncPlan) []gift) error {
	var gifts []gift
	for _, p := range plans {
		if refused[p.issue] == nil {
			gifts = append(gifts, of(p)...)
		}
	}
	if len(gifts) == 0 {
		return nil
	}
	said, err := y.line.give(ctx, false, gifts...)
	for _, p := range plans {
		for _, g := range of(p) {
			refused[p.issue] = cmp.Or(refused[p.issue], said[g.ref])
		}
	}
	return err
}

// settle ends what was begun for one issue, once the remote has answered.
func (y *syncing) settle(ctx context.Context, p *syncPlan, refused error) error {
	switch {
	case y.dryRun:
		p.done.would()
		return nil
	case refused == nil:
		return y.land(ctx, p)
	case errors.Is(refused, errStale) && !p.theirs.tip.IsZero():
		// The next fetch only brings what came on top of it.
		return errors.Join(refused, y.s.track(ctx, y.line, p.issue, p.theirs.tip))
	}
	return refused
}

// would makes a result that of a dry run.
func (d *Synced) would() {
	if d.Result != UpToDate && d.Result != Absent {
		d.Result = "would be " + d.Result
	}
}

// land moves the refs here, in one transaction, from what the plan saw.
func (y *syncing) land(ctx context.Context, p *syncPlan) error {
	s, message := y.s, "sync: "+ShownRemote(y.line.remote)
	return s.inTurn(ctx, p.issue, func() error {
		list, err := y.moves(ctx, p)
		if err != nil || len(list) == 0 {
			return err
		}
		if err := s.publish(ctx, p.k, message, func() ([]refMove, error) { return list, nil }); err != nil {
			return err
		}
		return p.k.protect(ctx)
	})
}

func (y *syncing) moves(ctx context.Context, p *syncPlan) ([]refMove, error) {
	s := y.s
	tracking := s.trackingRef(y.line.remote, p.issue)
	tracked, err := s.readRef(ctx, tracking)
	if err != nil {
		return nil, err
	}
	list := p.archive.move(p.issue)
	for _, m := range []refMove{
		{LiveRef(p.issue), p.live.tip, p.tip},
		{ownRef(p.issue), p.own.tip, p.tip},
		{tracking, tracked, p.tip},
	} {
		if m.old != m.new {
			list = append(list, m)
		}
	}
	return list, nil
}
