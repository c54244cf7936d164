package share

import (
	"cmp"
	"context"
	"errors"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/remote"
)

// errorsByIssue maps issues to the errors of their push or local update, nil for success.
type errorsByIssue map[checkpoint.Issue]error

// A blockedError is the reason why an issue must not be pushed.
type blockedError struct{ error }

func (e *blockedError) Unwrap() error { return e.error }

// execute calls together for as many plans as fit in one push, until none is left. It
// returns the issues to plan again.
func (y *Syncing) execute(ctx context.Context, plans []*issuePlan, together func(context.Context, []*issuePlan) ([]checkpoint.Issue, error)) (again []checkpoint.Issue, err error) {
	for len(plans) > 0 {
		n := countForOnePush(plans)
		moved, err := together(ctx, plans[:n])
		if err != nil {
			return nil, err
		}
		again, plans = append(again, moved...), plans[n:]
		y.progress()
	}
	return again, nil
}

// pushBytes limits the size of one push command's arguments, which contain the refs.
const pushBytes = 100_000

// countForOnePush returns how many of the plans fit in one command, at least one.
func countForOnePush(plans []*issuePlan) int {
	size := 0
	for n, p := range plans {
		for _, u := range p.updates() {
			size += 2*len(u.Ref) + 160
		}
		if size > pushBytes && n > 0 {
			return n
		}
	}
	return len(plans)
}

// push pushes plans without errors, the archives first, and adds errors to errs. If a sync
// is interrupted, the archive must already contain the checkpoints that leave a chain.
func (y *Syncing) push(ctx context.Context, plans []*issuePlan, errs errorsByIssue) error {
	if y.req.May != nil {
		var exposing []*issuePlan
		for _, p := range plans {
			if errs[p.issue] == nil && !p.verify && len(p.updates()) > 0 {
				exposing = append(exposing, p)
			}
		}
		if len(exposing) > 0 {
			y.checkExposure(ctx, exposing, y.Sharer.Fetched(ctx), errs)
		}
	}
	if err := y.send(ctx, plans, errs, func(p *issuePlan) []remote.RefUpdate { return p.archive.Update(p.issue) }); err != nil {
		return err
	}
	return y.send(ctx, plans, errs, (*issuePlan).update)
}

// checkExposure asks whether a push may expose the commits of plans. If they are not
// harmless together, it checks each half, down to single issues.
func (y *Syncing) checkExposure(ctx context.Context, plans []*issuePlan, fetched chain.Exposed, errs errorsByIssue) {
	out, err := y.outgoing(ctx, plans, fetched)
	switch half := len(plans) / 2; {
	case err != nil:
		for _, p := range plans {
			errs[p.issue] = err
		}
	case half == 0:
		if err := y.req.May(plans[0].issue, out); err != nil {
			errs[plans[0].issue] = &blockedError{err}
		}
	case y.req.Harmless == nil || !y.req.Harmless(out):
		y.checkExposure(ctx, plans[:half], fetched, errs)
		y.checkExposure(ctx, plans[half:], fetched, errs)
	}
}

// outgoing returns the commits that a push of plans would publish.
func (y *Syncing) outgoing(ctx context.Context, plans []*issuePlan, fetched chain.Exposed) (chain.Outgoing, error) {
	var updates []remote.RefUpdate
	for _, p := range plans {
		updates = append(updates, p.updates()...)
	}
	return y.Sharer.Here().Showing(ctx, y.Conn.Remote, fetched, updates...)
}

// send pushes refs of each issue that has no error yet.
func (y *Syncing) send(ctx context.Context, plans []*issuePlan, errs errorsByIssue, of func(*issuePlan) []remote.RefUpdate) error {
	var updates []remote.RefUpdate
	for _, p := range plans {
		if errs[p.issue] == nil {
			updates = append(updates, of(p)...)
		}
	}
	if len(updates) == 0 {
		return nil
	}
	said, err := y.Conn.Push(ctx, y.req.DryRun, updates...)
	for _, p := range plans {
		for _, u := range of(p) {
			if errors.Is(said[u.Ref], remote.ErrUpToDate) {
				p.upToDate = p.upToDate || u.Tip == p.tip
				continue
			}
			errs[p.issue] = cmp.Or(errs[p.issue], said[u.Ref])
		}
	}
	return err
}
