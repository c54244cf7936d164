package share

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/remote"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxPushedWithoutListing limits how many issues are pushed before listing the remote's
// refs. The remote-tracking refs may belong to another name of the remote, and then all
// these pushes fail.
const maxPushedWithoutListing = 20

// PushWithoutListing pushes issues that have local-only checkpoints without listing the
// remote's refs first. The lease on the last known value makes the push fail if another
// clone has pushed since. It leaves out issues that need a merge or a question to the
// user: they wait for the listing, as do the refused ones. If it returns an error, a
// listing would fail with the same error.
func (y *Syncing) PushWithoutListing(ctx context.Context, all refStates) error {
	if y.req.DryRun || y.req.Archived {
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
	k := y.Sharer.NewObjectWriter()
	for _, i := range slices.Sorted(maps.Keys(went)) {
		p, err := y.planSync(ctx, k, i, remote.FetchedRef{Tip: went[i]})
		if err != nil || p.archive == nil || p.tip != p.live.Tip || len(p.update()) == 0 || p.publishes() {
			continue
		}
		if y.planArchive(p, remote.FetchedRef{}) == nil { // the archive does not change
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
	out, err := y.outgoing(ctx, plans, y.Sharer.Fetched(ctx))
	return err == nil && y.req.Harmless(out)
}

// canConnectTwice reports whether two connections to the remote can be open concurrently.
// This requires that no connection prompts for a password.
func (y *Syncing) canConnectTwice() bool { return y.req.Quiet || y.Conn.BesideAnother() }
