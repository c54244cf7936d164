package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// pushTries limits the number of attempts if the remote refs keep moving.
const pushTries = 4

// Push is Store.Push of package gitstore.
func (s *Sharer) Push(ctx context.Context, req Request) ([]chain.Synced, error) {
	y, err := s.Start("push", req)
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
		in[i] = remote.FetchedRef{Tip: here[y.Sharer.chain.TrackingRef(y.Conn.Remote, i)]}
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
// A chain that archives or deletes archived checkpoints is pushed together with the
// archive, as in a sync.
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
	archives, err := y.theirArchives(ctx, plans)
	defer y.Conn.forget(ctx, archives)
	if err != nil {
		return nil, err
	}
	for r := range y.Rounds(y.withArchives(plans, archives)) {
		for _, p := range r.plans {
			if p.archive != nil && !y.req.DryRun {
				r.errs[p.issue] = p.writer.Flush(ctx)
			}
		}
		r.CheckPublication(ctx)
		if err := r.MoveRemoteRefs(ctx); err != nil {
			return nil, err
		}
		moved, err := r.finishPush(ctx)
		if again = append(again, moved...); err != nil {
			return again, err
		}
	}
	return again, nil
}

// planPush compares the local chain with the remote chain. The plan changes the remote only
// if the local chain contains the remote chain.
func (y *Syncing) planPush(ctx context.Context, i checkpoint.Issue, came remote.FetchedRef) (p *issuePlan, err error) {
	if came.Err != nil {
		return nil, came.Err
	}
	if p = y.planSaves(ctx, y.Sharer.repo.NewObjectWriter(), i, came.Tip, nil); p != nil {
		if y.req.DryRun {
			p.done.MarkDryRun()
		}
		return p, nil
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
	rel := y.Sharer.chain.Relate(p.live, p.theirs)
	if rel == chain.RelationAhead && y.Sharer.repo.Opened != nil && !p.live.CarriesLedger(p.theirs) {
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
		p.done.Facts = p.live.Ledger.CountMissing(p.theirs.Ledger)
		if err := y.addArchive(ctx, p); err != nil {
			return nil, fmt.Errorf("push issue %s: %w", i, err)
		}
		if y.req.DryRun {
			p.done.MarkDryRun()
		}
	}
	return p, nil
}

// addArchive adds the local archive to the plan of a push that publishes archivals.
func (y *Syncing) addArchive(ctx context.Context, p *issuePlan) error {
	if !p.live.Whole() || !p.theirs.Whole() {
		return nil
	}
	p.own, p.writer, p.want = p.live, y.Sharer.repo.NewObjectWriter(), join.MergeStates(p.live.AsChain().State)
	if !p.publishes() {
		return nil
	}
	here, err := y.Sharer.chain.ReadChain(ctx, p.issue, repo.ArchiveRef(p.issue), 0)
	if err == nil {
		p.archive = &chain.ArchivePlan{Here: here, Theirs: y.Sharer.chain.NoChain(here)}
	}
	return err
}

// finishPush sets the results of the plans of a push, and updates the remote-tracking refs. It
// returns the issues whose remote refs have moved.
func (r *Round) finishPush(ctx context.Context) (again []checkpoint.Issue, err error) {
	y, tips := r.y, map[checkpoint.Issue]plumbing.Hash{}
	for _, p := range r.plans {
		switch err := r.errs[p.issue]; {
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

// errorsByIssue maps issues to the errors of their push or local update, nil for success.
type errorsByIssue map[checkpoint.Issue]error

// A blockedError is the reason why an issue must not be pushed.
type blockedError struct{ error }

func (e *blockedError) Unwrap() error { return e.error }

// CheckPublication asks Request.May whether a push may expose the commits of the plans.
func (r *Round) CheckPublication(ctx context.Context) {
	if r.y.req.May == nil || r.y.bundle {
		return
	}
	var exposing []*issuePlan
	for _, p := range r.plans {
		if r.errs[p.issue] == nil && !p.verify && len(p.updates()) > 0 {
			exposing = append(exposing, p)
		}
	}
	if len(exposing) == 0 {
		return
	}
	issues, outs, err := r.y.outgoing(ctx, exposing)
	if err != nil {
		for _, i := range issues {
			r.errs[i] = err
		}
		return
	}
	for n, err := range r.y.req.May(issues, outs) {
		if err != nil {
			r.errs[issues[n]] = &blockedError{err}
		}
	}
}

// MoveRemoteRefs pushes the plans. The archive and the chain of a single issue move in one
// atomic push. Otherwise the archives move first: if a sync is interrupted, the archive must
// already contain the checkpoints that leave a chain. A bundle file stays as it is.
func (r *Round) MoveRemoteRefs(ctx context.Context) error {
	y := r.y
	if y.bundle {
		for _, p := range r.plans {
			p.keepTheirs()
		}
		return nil
	}
	done, err := y.sendAtomic(ctx, r.plans, r.errs)
	if !done && err == nil {
		err = y.send(ctx, r.plans, r.errs, func(p *issuePlan) []remote.RefUpdate { return p.archive.Update(p.issue) })
	}
	if !done && err == nil {
		err = y.send(ctx, r.plans, r.errs, (*issuePlan).update)
	}
	return err
}

// outgoing returns the issues of plans and the commits that a push of each would publish.
func (y *Syncing) outgoing(ctx context.Context, plans []*issuePlan) (issues []checkpoint.Issue, outs []chain.Outgoing, err error) {
	var groups [][]remote.RefUpdate
	for _, p := range plans {
		issues, groups = append(issues, p.issue), append(groups, p.updates())
	}
	outs, err = y.Sharer.chain.LocalRepo().Showing(ctx, y.Conn.Remote, y.Sharer.chain.WithBoundary(y.req.Exposed), groups...)
	return issues, outs, err
}

// sendAtomic pushes the archive and the chain of an issue in one atomic push. done is
// false if there are other plans, or if the server does not support atomic pushes.
func (y *Syncing) sendAtomic(ctx context.Context, plans []*issuePlan, errs errorsByIssue) (done bool, err error) {
	if len(plans) != 1 || errs[plans[0].issue] != nil || len(plans[0].updates()) < 2 {
		return false, nil
	}
	p := plans[0]
	if err := y.notePush(ctx, plans); err != nil {
		return false, err
	}
	said, ok, err := y.Conn.PushAtomic(ctx, y.req.DryRun, p.updates()...)
	if !ok {
		return false, nil
	}
	for _, u := range p.updates() {
		p.note(u, said[u.Ref], errs)
	}
	return true, err
}

// notePush notes that the checkpoints may be public from now on.
func (y *Syncing) notePush(ctx context.Context, plans []*issuePlan) error {
	if y.req.DryRun {
		return nil
	}
	issues := make([]checkpoint.Issue, len(plans))
	for n, p := range plans {
		issues[n] = p.issue
	}
	return y.Sharer.log.NotePush(ctx, issues)
}

// note adds the outcome of a ref update to errs. A ref that is up to date is no error.
func (p *issuePlan) note(u remote.RefUpdate, said error, errs errorsByIssue) {
	if errors.Is(said, remote.ErrUpToDate) {
		p.upToDate = p.upToDate || u.Tip == p.tip
		return
	}
	errs[p.issue] = cmp.Or(errs[p.issue], said)
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
	if err := y.notePush(ctx, plans); err != nil {
		return err
	}
	said, err := y.Conn.Push(ctx, y.req.DryRun, updates...)
	for _, p := range plans {
		for _, u := range of(p) {
			p.note(u, said[u.Ref], errs)
		}
	}
	return err
}
