package share

import (
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
	y, err := s.start("push", req)
	if err != nil {
		return nil, err
	}
	y.Open = req.Issues
	err = y.pushIssues(ctx, y.Open)
	return y.results(), err
}

// pushIssues pushes from the remote-tracking values. If the remote has moved, it fetches
// the remote chains and retries. Returned errors affect every issue.
func (y *Syncing) pushIssues(ctx context.Context, issues []checkpoint.Issue) error {
	here, err := y.Refs(ctx, issues)
	if err != nil {
		return err
	}
	in := fetched{}
	for _, i := range issues {
		in[i] = remote.FetchedRef{Tip: here[y.Sharer.TrackingRef(y.Conn.Remote, i)]}
	}
	for try := range pushTries {
		if try > 0 {
			if in, err = y.fetchToTracking(ctx, issues); err != nil {
				return err
			}
		}
		if issues, err = y.pushPass(ctx, issues, in, try == 0); err != nil || len(issues) == 0 {
			return err
		}
	}
	for _, i := range issues {
		y.fail(i, &chain.RemoteError{Op: "push", Remote: chain.ShownRemote(y.Conn.Remote), Reason: fmt.Sprintf("issue %s: %v", i, repo.ErrMoved), Err: repo.ErrMoved})
	}
	return nil
}

// fetchToTracking fetches the remote chains of issues, and updates their remote-tracking
// refs.
func (y *Syncing) fetchToTracking(ctx context.Context, issues []checkpoint.Issue) (fetched, error) {
	_, in, err := y.Conn.fetchListed(ctx, issues)
	if err != nil {
		return nil, err
	}
	defer y.Conn.forget(ctx, in)
	tips := map[checkpoint.Issue]plumbing.Hash{}
	for i, came := range in {
		if !came.Tip.IsZero() {
			tips[i] = came.Tip
		}
	}
	return in, y.Conn.track(ctx, tips)
}

// pushPass tries once, and returns the issues whose remote chains must be fetched first.
func (y *Syncing) pushPass(ctx context.Context, issues []checkpoint.Issue, in fetched, first bool) (again []checkpoint.Issue, err error) {
	var plans []*issuePlan
	for _, i := range issues {
		p, err := y.planPush(ctx, i, in[i])
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			y.fail(i, err)
		case p.done.Result == chain.Diverged && first: // the remote-tracking ref may be out of date
			again = append(again, i)
		case len(p.update()) == 0:
			y.Done[i] = &p.done
		default:
			plans = append(plans, p)
		}
	}
	moved, err := y.execute(ctx, plans, y.pushTogether)
	return append(again, moved...), err
}

// planPush compares the local chain with the remote chain. The plan changes the remote only
// if the local chain contains the remote chain.
func (y *Syncing) planPush(ctx context.Context, i checkpoint.Issue, came remote.FetchedRef) (p *issuePlan, err error) {
	if came.Err != nil {
		return nil, came.Err
	}
	p = &issuePlan{issue: i, done: chain.Synced{Issue: i}}
	if p.live, err = y.Sharer.chainHere(ctx, i); err != nil {
		return nil, fmt.Errorf("push issue %s: %w", i, err)
	}
	if p.live.Tip.IsZero() {
		return nil, &repo.NoneError{Issue: i}
	}
	if p.theirs, err = y.Sharer.theirChain(y.Conn.Remote, i, came.Tip); err != nil {
		return nil, fmt.Errorf("push issue %s: %w", i, err)
	}
	rel := chain.Relate(p.live, p.theirs)
	if rel == chain.RelationAhead && y.Sharer.Opened != nil && !p.live.CarriesLedger(p.theirs) {
		rel = chain.RelationDiverged
	}
	switch rel {
	case chain.RelationBehind:
		p.done.Result = chain.Behind
	case chain.RelationDiverged:
		p.done.Result, p.done.Err = chain.Diverged, y.divergence(i)
	case chain.RelationSame:
		p.tip, p.verify, p.done.Result = p.live.Tip, true, chain.UpToDate
	default:
		p.tip, p.done.Result, p.done.Pushed = p.live.Tip, chain.Pushed, p.live.CountMissingFrom(p.theirs)
		if y.req.DryRun {
			p.done.MarkDryRun()
		}
	}
	return p, nil
}

// pushTogether pushes plans over one connection, and updates the remote-tracking refs.
func (y *Syncing) pushTogether(ctx context.Context, plans []*issuePlan) (again []checkpoint.Issue, err error) {
	errs := errorsByIssue{}
	if err := y.push(ctx, plans, errs); err != nil {
		return nil, err
	}
	tips := map[checkpoint.Issue]plumbing.Hash{}
	for _, p := range plans {
		switch err := errs[p.issue]; {
		case errors.Is(err, remote.ErrStale):
			again = append(again, p.issue)
		case err != nil:
			y.fail(p.issue, err)
		default:
			y.Done[p.issue] = &p.done
			if !p.verify {
				tips[p.issue] = p.tip
			}
		}
	}
	if y.req.DryRun {
		return again, nil
	}
	return again, y.Conn.track(ctx, tips)
}
