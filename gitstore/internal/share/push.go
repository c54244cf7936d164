package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// pushTries limits the number of attempts if the remote refs keep moving.
const pushTries = 4

// Push pushes chains of issues to a remote if they contain the remote's chains. A ref
// moves only from the value that was last seen; a diverged ref stays. The error reports
// that the remote did not answer; errors of single issues are in their Synced.
func (s *Sharer) Push(ctx context.Context, req Request) ([]chain.Synced, error) {
	l, err := s.Connect("push", req.Remote, req.Timeout, req.Quiet)
	if err != nil {
		return nil, err
	}
	p := &pushing{s: s, conn: l, req: req, done: map[checkpoint.Issue]*chain.Synced{}, seen: map[checkpoint.Issue]plumbing.Hash{}}
	err = p.run(ctx, req.Issues)
	done := make([]chain.Synced, 0, len(req.Issues))
	for _, i := range req.Issues {
		if d := p.done[i]; d != nil {
			done = append(done, *d)
		}
	}
	return done, err
}

// A pushing is the state of one Push over all attempts.
type pushing struct {
	s    *Sharer
	conn *conn
	req  Request
	seen map[checkpoint.Issue]plumbing.Hash // expected values of the remote refs
	done map[checkpoint.Issue]*chain.Synced

	unread map[checkpoint.Issue]error // errors of remote chains that could not be fetched
}

// run pushes from the remote-tracking values. If the remote has moved, run lists remote
// refs and retries. Returned errors affect every issue.
func (p *pushing) run(ctx context.Context, issues []checkpoint.Issue) error {
	here, err := p.s.RefsHere(ctx, p.conn.Remote, issues)
	if err != nil {
		return err
	}
	for _, i := range issues {
		p.seen[i] = here[p.s.TrackingRef(p.conn.Remote, i)]
	}
	for try := range pushTries {
		if try > 0 {
			if err := p.look(ctx, issues); err != nil {
				return err
			}
		}
		if issues, err = p.pass(ctx, issues, try == 0); err != nil || len(issues) == 0 {
			return err
		}
	}
	for _, i := range issues {
		p.fail(i, &chain.RemoteError{Op: "push", Remote: chain.ShownRemote(p.conn.Remote), Reason: fmt.Sprintf("issue %s: %v", i, repo.ErrMoved), Err: repo.ErrMoved})
	}
	return nil
}

func (p *pushing) fail(i checkpoint.Issue, err error) {
	p.done[i] = &chain.Synced{Issue: i, Result: chain.Failed, Err: err}
}

// A pushPlan is the plan of a push for one issue.
type pushPlan struct {
	issuePush
	rel  chain.Relation
	done chain.Synced
}

// pass tries once, and returns issues whose remote refs must be listed again.
func (p *pushing) pass(ctx context.Context, issues []checkpoint.Issue, first bool) (again []checkpoint.Issue, err error) {
	var plans []*pushPlan
	for _, i := range issues {
		plan, err := p.plan(ctx, i)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			p.fail(i, err)
		case plan.rel == chain.RelationDiverged && first: // the remote-tracking ref may be out of date
			again = append(again, i)
		case len(plan.updates) == 0:
			p.done[i] = &plan.done
		default:
			plans = append(plans, plan)
		}
	}
	for len(plans) > 0 {
		n := countForOnePush(issuePushesOf(plans))
		moved, err := p.push(ctx, plans[:n])
		if err != nil {
			return nil, err
		}
		again, plans = append(again, moved...), plans[n:]
		if p.req.Progress != nil {
			p.req.Progress(len(p.done), len(p.done)+len(plans)+len(again))
		}
	}
	return again, nil
}

func issuePushesOf(plans []*pushPlan) []issuePush {
	list := make([]issuePush, len(plans))
	for n, plan := range plans {
		list[n] = plan.issuePush
	}
	return list
}

// plan compares the local chain with the remote chain.
func (p *pushing) plan(ctx context.Context, i checkpoint.Issue) (*pushPlan, error) {
	if err := p.unread[i]; err != nil {
		return nil, err
	}
	ours, err := p.s.chainHere(ctx, i)
	if err != nil {
		return nil, fmt.Errorf("push issue %s: %w", i, err)
	}
	if ours.Tip.IsZero() {
		return nil, &repo.NoneError{Issue: i}
	}
	theirs, err := p.s.theirChain(p.conn.Remote, i, p.seen[i])
	if err != nil {
		return nil, fmt.Errorf("push issue %s: %w", i, err)
	}
	plan := &pushPlan{issuePush: issuePush{issue: i}, rel: chain.Relate(ours, theirs), done: chain.Synced{Issue: i}}
	if plan.rel == chain.RelationAhead && p.s.Opened != nil && !ours.CarriesLedger(theirs) {
		plan.rel = chain.RelationDiverged
	}
	switch plan.rel {
	case chain.RelationBehind:
		plan.done.Result = chain.Behind
	case chain.RelationDiverged:
		plan.done.Result, plan.done.Err = chain.Diverged, p.s.divergence("push", p.conn.Remote, i)
	default:
		plan.updates = []remote.RefUpdate{{Ref: repo.LiveRef(i), Tip: ours.Tip, Seen: p.seen[i]}}
		plan.done.Result, plan.done.Pushed = chain.Pushed, ours.Without(theirs)
	}
	switch {
	case plan.rel == chain.RelationSame:
		plan.done.Result = chain.UpToDate
	case plan.rel == chain.RelationAhead && p.req.DryRun:
		plan.done.Result = "would be pushed"
	}
	return plan, nil
}

// push pushes over one connection, and updates the remote-tracking refs. Chains that the
// remote should already have are included, to verify this.
func (p *pushing) push(ctx context.Context, plans []*pushPlan) (again []checkpoint.Issue, err error) {
	refused := errorsByIssue{}
	var asked []issuePush
	for _, plan := range plans {
		if plan.rel != chain.RelationSame {
			asked = append(asked, plan.issuePush)
		}
	}
	j := &exposureCheck{p.s, p.conn.Remote, p.req.May, p.req.Harmless}
	j.check(ctx, asked, refused)
	var updates []remote.RefUpdate
	for _, plan := range plans {
		if refused[plan.issue] == nil {
			updates = append(updates, plan.updates...)
		}
	}
	if len(updates) > 0 {
		said, err := p.conn.Push(ctx, p.req.DryRun, updates...)
		if err != nil {
			return nil, err
		}
		for _, plan := range plans {
			if err := said[plan.updates[0].Ref]; !errors.Is(err, remote.ErrUpToDate) {
				refused[plan.issue] = cmp.Or(refused[plan.issue], err)
			}
		}
	}
	tips := map[checkpoint.Issue]plumbing.Hash{}
	for _, plan := range plans {
		switch err := refused[plan.issue]; {
		case errors.Is(err, remote.ErrStale):
			again = append(again, plan.issue)
		case err != nil:
			p.fail(plan.issue, err)
		default:
			p.done[plan.issue] = &plan.done
			if plan.rel != chain.RelationSame {
				tips[plan.issue] = plan.updates[0].Tip
			}
		}
	}
	if p.req.DryRun {
		return again, nil
	}
	return again, p.conn.track(ctx, tips)
}

// look fetches the remote chains of issues.
func (p *pushing) look(ctx context.Context, issues []checkpoint.Issue) error {
	tips, _, err := p.conn.chains(ctx, issues)
	if err != nil {
		return err
	}
	here, err := p.s.RefsHere(ctx, p.conn.Remote, issues)
	if err != nil {
		return err
	}
	in, err := p.conn.incoming(ctx, issues, tips, here)
	if err != nil {
		return err
	}
	defer p.conn.forget(ctx, in)
	came := map[checkpoint.Issue]plumbing.Hash{}
	p.unread = map[checkpoint.Issue]error{}
	for _, i := range issues {
		p.unread[i] = in[i].Err
		if p.seen[i] = in[i].Tip; !in[i].Tip.IsZero() {
			came[i] = in[i].Tip
		}
	}
	return p.conn.track(ctx, came)
}
