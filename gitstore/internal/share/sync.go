package share

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// Joined is the result if the local and the remote chain were merged into a new chain,
// which both sides have now.
const Joined = "joined"

// Results returns the results of the sync, sorted by issue.
func (y *Syncing) Results() []chain.Synced {
	if y.Open == nil { // the remote's issues are unknown
		y.Open = slices.Collect(maps.Keys(y.Done))
	}
	y.Open = slices.Compact(slices.Sorted(slices.Values(y.Open)))
	return y.results()
}

// NamePushed adds to an error that ended the sync the issues whose remote refs an earlier
// attempt has moved.
func (y *Syncing) NamePushed(err error) error {
	if err == nil {
		return nil
	}
	for _, i := range slices.Sorted(maps.Keys(y.pushedOnly)) {
		if y.Done[i] == nil {
			err = &repo.PushedError{Issue: i, Remote: chain.ShownRemote(y.Conn.Remote), Err: err}
		}
	}
	return err
}

// PushNamed pushes named issues with local-only checkpoints without listing the remote's refs.
// If these pushes end the sync, it returns done, otherwise the issues that are left. Without named
// issues, it returns nil, which means all issues.
func (y *Syncing) PushNamed(ctx context.Context) (left []checkpoint.Issue, done bool, err error) {
	named := y.req.Issues
	if len(named) == 0 {
		return nil, false, nil
	}
	y.meanwhile()
	here, err := y.Refs(ctx, named)
	if err != nil {
		return nil, false, err
	}
	y.Open = named
	if err := y.PushWithoutListing(ctx, y.RefStatesOf(here)); err != nil {
		return nil, false, err
	}
	if left = y.undone(named); len(left) == 0 {
		y.progress()
	}
	return left, len(left) == 0, nil
}

// undone returns the issues that have no result yet.
func (y *Syncing) undone(issues []checkpoint.Issue) (open []checkpoint.Issue) {
	for _, i := range issues {
		if y.Done[i] == nil {
			open = append(open, i)
		}
	}
	return open
}

func (y *Syncing) meanwhile() {
	if y.req.Meanwhile != nil {
		y.req.Meanwhile()
	}
}

// Pause waits before the next attempt, and counts it.
func (y *Syncing) Pause(ctx context.Context) error {
	err := remote.Pause(ctx, 20*time.Millisecond, y.Tries)
	y.Tries++
	return err
}

// OutOfTime fails all unfinished issues. If the issues are not known yet, it returns the
// error for the whole sync.
func (y *Syncing) OutOfTime() error {
	late := y.Conn.Fail(fmt.Sprintf("not done within %s", y.req.Budget), context.DeadlineExceeded)
	for _, i := range y.Open {
		if y.Done[i] == nil {
			y.fail(i, late)
		}
	}
	if y.Open == nil {
		return late
	}
	return nil
}

// GiveUp fails issues whose refs moved in every attempt.
func (y *Syncing) GiveUp(issues []checkpoint.Issue) {
	for _, i := range issues {
		y.fail(i, &chain.RemoteError{Op: "sync", Remote: chain.ShownRemote(y.Conn.Remote), Reason: repo.ErrMoved.Error(), Err: repo.ErrMoved, Refused: true})
	}
}

// A Theirs has the chains of a remote, as one attempt of a sync has fetched them.
type Theirs struct {
	conn     *conn
	issues   []checkpoint.Issue // that the attempt is about
	chains   fetched
	archives fetched
	here     refValues // local refs that were read with them; may be out of date
}

// Forget deletes the temporary refs of the fetched chains.
func (t *Theirs) Forget(ctx context.Context) {
	t.conn.forget(ctx, t.chains)
	t.conn.forget(ctx, t.archives)
}

// FetchMissing lists the refs of the remote, and fetches the chains of issues, of all issues
// for an empty list, that are missing here. An issue that both sides have in the same state
// gets its result. The result is never nil.
func (y *Syncing) FetchMissing(ctx context.Context, issues []checkpoint.Issue) (t *Theirs, err error) {
	t = &Theirs{conn: y.Conn, issues: issues}
	var ok bool
	if t.chains, ok, err = y.FetchWithoutListing(ctx, issues); ok || err != nil {
		return t, err
	}
	there, here, all, err := y.Look(ctx, issues)
	if err != nil {
		return t, err
	}
	if len(issues) == 0 {
		issues = all.allIssues(there)
	}
	if y.Open == nil {
		y.Open = issues
	}
	issues = y.undone(issues)
	if !y.req.Archived {
		issues = y.outOfSync(ctx, issues, there.tips, all)
	}
	y.progress()
	if t.issues, t.here = issues, here; len(issues) > 0 {
		t.chains, err = y.Conn.incoming(ctx, issues, there.tips, here)
	}
	return t, err
}

// Plan joins the local and the fetched chains of issues, without writing. It fetches the
// archives of issues whose local archive will be pushed. Issues that move in one transaction
// share an object writer.
func (y *Syncing) Plan(ctx context.Context, t *Theirs) ([]*issuePlan, error) {
	isCached := len(t.issues) > 1 && y.Sharer.repo.CacheRefs(ctx)
	var plans []*issuePlan
	var writer *repo.ObjectWriter
	known := &chain.Names{Chains: y.Sharer.chain}
	for n, i := range t.issues {
		if n%maxTogether == 0 {
			writer = y.Sharer.repo.NewObjectWriter()
		}
		p, err := y.planSync(ctx, writer, i, t.chains[i], t.here)
		if err == nil && p.live.Tip.IsZero() && !p.tip.IsZero() {
			err = known.Check(ctx, i)
		}
		if err != nil {
			y.fail(i, err)
			continue
		}
		plans = append(plans, p)
	}
	if isCached {
		y.Sharer.repo.Refs.Release()
	}
	var err error
	if t.archives, err = y.theirArchives(ctx, plans); err != nil {
		return nil, err
	}
	return y.withArchives(plans, t.archives), nil
}

// Look lists remote tips of issues, or of all issues for an empty list. While the remote
// answers, Look reads the local refs.
func (y *Syncing) Look(ctx context.Context, issues []checkpoint.Issue) (there listing, here map[string]plumbing.Hash, all refStates, err error) {
	var failed error
	var asking sync.WaitGroup
	asking.Go(func() { there, failed = y.Conn.ask(ctx, issues) })
	if len(issues) == 0 {
		y.meanwhile()
	}
	here, err = y.Refs(ctx, issues)
	y.Here = nil
	all = y.RefStatesOf(here)
	if asking.Wait(); failed != nil {
		err = failed
	}
	if err == nil && len(issues) == 0 {
		y.Sharer.WarnInvalidRefs(chain.ShownRemote(y.Conn.Remote)+": ", there.strange)
	}
	return there, here, all, err
}

// maxPushedWithoutListing limits how many issues are pushed before listing the remote's
// refs. The remote-tracking refs may belong to another name of the remote, and then all
// these pushes fail.
const maxPushedWithoutListing = 8

// PushWithoutListing pushes issues that have local-only checkpoints without listing the
// remote's refs first. The lease on the last known value makes the push fail if another
// clone has pushed since. It leaves out issues that need a merge or a question to the
// user: they wait for the listing, as do the refused ones. If it returns an error, a
// listing would fail with the same error.
func (y *Syncing) PushWithoutListing(ctx context.Context, all refStates) error {
	if y.req.DryRun || y.req.Archived || y.bundle {
		return nil
	}
	plans := y.planWithoutListing(ctx, all)
	if len(plans) == 0 || !y.isHarmless(ctx, plans) {
		return nil
	}
	y.Here = nil
	outcome, start := errorsByIssue{}, time.Now()
	if err := y.send(ctx, plans, outcome, (*issuePlan).update); err != nil {
		if late := y.Conn.Timeout; ctx.Err() == nil && (late == 0 || time.Since(start) < late) {
			return nil // a fetch may still succeed
		}
		return err
	}
	y.updateLocalRefs(ctx, plans, outcome)
	for _, p := range plans {
		var said *chain.RemoteError
		switch err := outcome[p.issue]; {
		case err == nil && p.upToDate: // by a git push that did not update the remote-tracking ref
			y.Done[p.issue] = &chain.Synced{Issue: p.issue, Result: chain.UpToDate}
		case err == nil:
			y.Done[p.issue] = &p.done
		case errors.Is(err, remote.ErrStale):
			y.late[p.issue] = true
		case errors.As(err, &said) && said.Refused:
			y.fail(p.issue, err)
		}
	}
	return nil
}

// planWithoutListing plans issues with local-only checkpoints, assuming that remote refs
// have their last known values. It leaves out issues that need more than a push. If there
// are too many issues, it returns nil.
func (y *Syncing) planWithoutListing(ctx context.Context, all refStates) (plans []*issuePlan) {
	went := map[checkpoint.Issue]plumbing.Hash{}
	for name, at := range all {
		if at.live.IsZero() || at.live != at.own || at.live == at.tracked {
			continue
		}
		if i, err := checkpoint.IssueFromRef(name); err == nil {
			went[i] = at.tracked
		}
	}
	if len(went) > maxPushedWithoutListing {
		return nil
	}
	k := y.Sharer.repo.NewObjectWriter()
	for _, i := range slices.Sorted(maps.Keys(went)) {
		p, err := y.planSync(ctx, k, i, remote.FetchedRef{Tip: went[i]}, nil)
		if err != nil || p.tip != p.live.Tip || len(p.update()) == 0 || p.archive != nil && p.publishes() {
			continue
		}
		if p.archive == nil || y.planArchive(p, remote.FetchedRef{}) == nil { // the archive does not change
			plans = append(plans, p)
		}
	}
	return plans
}

// isHarmless reports whether a push needs no question and is not blocked.
func (y *Syncing) isHarmless(ctx context.Context, plans []*issuePlan) bool {
	if y.req.May == nil {
		return true
	}
	if y.req.Harmless == nil {
		return false
	}
	issues, outs, err := y.outgoing(ctx, plans)
	return err == nil && y.req.Harmless(issues, outs)
}
