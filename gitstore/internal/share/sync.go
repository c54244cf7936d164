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

// A sync retries for at least syncFor and at least syncTries attempts, within its budget.
// A time limit alone would allow few attempts if many clones share a slow connection. The
// clone that won the last race often wins the next one too.
const (
	syncFor   = 2 * time.Minute
	syncTries = 200
)

// Sync merges the local and the remote chains of issues. The result contains all
// checkpoints saved on either side, except checkpoints that either side dropped or
// pruned. Chains are merged by their contents (package join); a missing ref has no
// meaning. The remote refs move first, with a lease on the fetched values. Then local
// refs move in one transaction. If the remote rejects the push, both sides stay
// unchanged. If the remote is a bundle file, only the local refs move.
//
// The error reports that the remote did not answer; errors of single issues are in their
// Synced.
func (s *Sharer) Sync(ctx context.Context, req Request) ([]chain.Synced, error) {
	y, err := s.start("sync", req)
	if err != nil {
		return nil, err
	}
	within, cancel := ctx, context.CancelFunc(func() {})
	if req.Budget > 0 {
		within, cancel = context.WithTimeout(ctx, req.Budget)
	}
	defer cancel()
	err = y.begin(within)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		err = y.outOfTime()
	}
	if y.Open == nil { // the remote's issues are unknown
		y.Open = slices.Collect(maps.Keys(y.Done))
	}
	y.Open = slices.Compact(slices.Sorted(slices.Values(y.Open)))
	return y.results(), y.namePushed(err)
}

// namePushed adds to an error that ended the sync the issues whose remote refs an earlier
// attempt has moved.
func (y *Syncing) namePushed(err error) error {
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

// begin first pushes named issues with local-only checkpoints without listing the
// remote's refs. If this succeeds for all issues, no listing is necessary.
func (y *Syncing) begin(ctx context.Context) error {
	named := y.req.Issues
	if len(named) == 0 {
		return y.run(ctx, nil)
	}
	y.meanwhile()
	here, err := y.Refs(ctx, named)
	if err != nil {
		return err
	}
	y.Open = named
	if err := y.PushWithoutListing(ctx, y.RefStatesOf(here)); err != nil {
		return err
	}
	if named = y.undone(named); len(named) == 0 {
		y.progress()
		return nil
	}
	return y.run(ctx, named)
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

// run repeats pass until no ref moves concurrently. An empty pending list means all
// issues.
func (y *Syncing) run(ctx context.Context, pending []checkpoint.Issue) error {
	for start := time.Now(); ; y.tries++ {
		var err error
		if pending, err = y.pass(ctx, pending); err != nil || len(pending) == 0 {
			return err
		}
		if time.Since(start) > syncFor && y.tries >= syncTries {
			y.giveUp(pending)
			return nil
		}
		if err := remote.Pause(ctx, 20*time.Millisecond, y.tries); err != nil {
			return err
		}
	}
}

// outOfTime fails all unfinished issues. If the issues are not known yet, it returns the
// error for the whole sync.
func (y *Syncing) outOfTime() error {
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

func (y *Syncing) giveUp(issues []checkpoint.Issue) {
	for _, i := range issues {
		y.fail(i, &chain.RemoteError{Op: "sync", Remote: chain.ShownRemote(y.Conn.Remote), Reason: repo.ErrMoved.Error(), Err: repo.ErrMoved, Refused: true})
	}
}

// pass tries once to sync issues, and returns those whose remote or local refs moved
// concurrently. Returned errors affect every issue.
func (y *Syncing) pass(ctx context.Context, issues []checkpoint.Issue) (again []checkpoint.Issue, err error) {
	in, ok, err := y.FetchWithoutListing(ctx, issues)
	switch {
	case err != nil:
		return nil, err
	case ok:
		return y.follow(ctx, issues, in, nil)
	}
	there, here, all, err := y.Look(ctx, issues)
	if err != nil {
		return nil, err
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
	if len(issues) == 0 {
		return nil, nil
	}
	in, err = y.Conn.incoming(ctx, issues, there.tips, here)
	if err != nil {
		return nil, err
	}
	return y.follow(ctx, issues, in, here)
}

// Look lists remote tips of issues, or of all issues for an empty list. While the remote
// answers, Look reads the local refs, and pushes local-only checkpoints if a second
// connection is possible.
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
	if err == nil && len(issues) == 0 && y.canConnectTwice() {
		err = y.PushWithoutListing(ctx, all)
	}
	if asking.Wait(); failed != nil {
		err = failed
	}
	if err == nil && len(issues) == 0 {
		y.Sharer.WarnInvalidRefs(chain.ShownRemote(y.Conn.Remote)+": ", there.strange)
	}
	return there, here, all, err
}

// follow continues the sync with the fetched chains, from local refs that may be out of date.
func (y *Syncing) follow(ctx context.Context, issues []checkpoint.Issue, in fetched, here refValues) (again []checkpoint.Issue, err error) {
	defer y.Conn.forget(ctx, in)
	plans := y.planSyncs(ctx, issues, in, here, &chain.Names{Chains: y.Sharer.chain})
	archives, err := y.theirArchives(ctx, plans)
	defer y.Conn.forget(ctx, archives)
	if err != nil {
		return nil, err
	}
	return y.execute(ctx, y.withArchives(plans, archives), y.syncTogether)
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
		if !at.hasLocalOnly() {
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

// canConnectTwice reports whether two connections to the remote can be open concurrently.
// This requires that no connection prompts for a password.
func (y *Syncing) canConnectTwice() bool { return y.req.Quiet || y.Conn.BesideAnother() }
