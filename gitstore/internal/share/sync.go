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
)

// Joined is the result if the local and the remote chain were merged into a new chain,
// which both sides have now.
const Joined = "joined"

// Results returns the results, sorted by issue.
func (y *Syncing) Results() []chain.Synced {
	if y.Open == nil { // the remote's issues are unknown
		y.Open = slices.Collect(maps.Keys(y.Done))
	}
	list := make([]chain.Synced, 0, len(y.Open))
	for _, i := range slices.Compact(slices.Sorted(slices.Values(y.Open))) {
		if d := y.Done[i]; d != nil {
			list = append(list, *d)
		}
	}
	return list
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
	for _, i := range y.undone(y.Open) {
		y.fail(i, late)
	}
	if y.Open == nil {
		return late
	}
	return nil
}

// GiveUp fails issues whose refs moved in every attempt.
func (y *Syncing) GiveUp(issues []checkpoint.Issue) {
	for _, i := range issues {
		y.fail(i, &chain.RemoteError{Op: y.Conn.Op, Remote: chain.ShownRemote(y.Conn.Remote), Reason: repo.ErrMoved.Error(), Err: repo.ErrMoved, Refused: true})
	}
}

// A Theirs has the chains of a remote, as one attempt has fetched them.
type Theirs struct {
	Issues   []checkpoint.Issue // that the attempt is about
	conn     *conn
	chains   fetched
	archives fetched
	here     refValues // local refs that were read with them; may be out of date
	names    *chain.Names
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
	t = &Theirs{Issues: issues, conn: y.Conn, archives: fetched{}, names: &chain.Names{Chains: y.Sharer.chain}}
	if len(issues) == 1 {
		if in, ok, err := y.fetchWithoutListing(ctx, issues[0]); ok || err != nil {
			t.chains = in
			return t, err
		}
	}
	there, here, err := y.look(ctx, issues)
	if err != nil {
		return t, err
	}
	switch {
	case len(issues) > 0:
	case y.Conn.Op == "fetch":
		issues = slices.Sorted(maps.Keys(there.tips))
	default:
		issues = allIssues(there, here)
	}
	if y.Open == nil {
		y.Open = issues
	}
	issues = y.undone(issues)
	if !y.req.Archived {
		issues = y.outOfSync(issues, there.tips, here)
	}
	y.progress()
	if t.Issues, t.here = issues, here; len(issues) > 0 {
		t.chains, err = y.Conn.incoming(ctx, issues, there.tips, here)
	}
	return t, err
}

// look lists remote tips of issues, or of all issues for an empty list. While the remote
// answers, look reads the local refs.
func (y *Syncing) look(ctx context.Context, issues []checkpoint.Issue) (there listing, here refValues, err error) {
	var failed error
	var asking sync.WaitGroup
	asking.Go(func() { there, failed = y.Conn.ask(ctx, issues) })
	if len(issues) == 0 {
		y.meanwhile()
	}
	here, err = y.Sharer.chain.RefsHere(ctx, y.Conn.Remote, issues)
	if asking.Wait(); failed != nil {
		err = failed
	}
	if err == nil && len(issues) == 0 {
		y.Sharer.WarnInvalidRefs(chain.ShownRemote(y.Conn.Remote)+": ", there.strange)
	}
	return there, here, err
}

// MaxTogether limits the issues that are planned, pushed and moved together: their chains stay in
// memory, git compares each pushed ref with each ref of the remote, and a time limit loses the round
// that it ends.
const MaxTogether = 1_000

// Plan compares the local and the fetched chains of issues, and joins them in a sync, without
// writing. It fetches the archives of issues whose local archive will be pushed.
func (y *Syncing) Plan(ctx context.Context, t *Theirs, issues []checkpoint.Issue) (*Round, error) {
	r := y.newRound(true)
	if len(issues) > 1 && y.Sharer.repo.CacheRefs(ctx) {
		defer y.Sharer.repo.Refs.Release()
	}
	for _, i := range issues {
		p, err := y.planIssue(ctx, r.writer, i, t.chains[i], t.here)
		if err == nil && p.live.Tip.IsZero() && !p.tip.IsZero() && !p.seen {
			err = t.names.Check(ctx, i)
		}
		if err != nil {
			y.fail(i, err)
			continue
		}
		r.plans = append(r.plans, p)
	}
	archives, err := y.theirArchives(ctx, r.plans)
	maps.Copy(t.archives, archives)
	if err != nil {
		return nil, err
	}
	r.plans = slices.DeleteFunc(r.plans, func(p *issuePlan) bool {
		if p.archive == nil {
			return false
		}
		err := y.planArchive(p, archives[p.issue])
		if err != nil {
			y.fail(p.issue, err)
		}
		return err != nil
	})
	return r, nil
}

// maxPushedWithoutListing limits how many issues are pushed before listing the remote's
// refs. The remote-tracking refs may belong to another name of the remote, and then all
// these pushes fail.
const maxPushedWithoutListing = 8

// PushNamed pushes named issues with local-only checkpoints without listing the remote's refs. The
// lease on the last known value makes the push fail if another clone has pushed since. It leaves
// out issues that need a merge or a question to the user: they wait for the listing, as do the
// refused ones. If these pushes end the operation, it returns done, otherwise the issues that are
// left. Without named issues, it returns nil, which means all issues. If it returns an error, a
// listing would fail with the same error.
func (y *Syncing) PushNamed(ctx context.Context) (left []checkpoint.Issue, done bool, err error) {
	named := y.req.Issues
	if len(named) == 0 {
		return nil, false, nil
	}
	y.Open = named
	y.meanwhile()
	if y.req.DryRun || y.req.Archived || y.onlyReads() || len(named) > maxPushedWithoutListing {
		return named, false, nil
	}
	here, err := y.Sharer.chain.RefsHere(ctx, y.Conn.Remote, named)
	if err != nil {
		return nil, false, err
	}
	r := y.newRound(false)
	for _, i := range named {
		live, tracked := here[repo.LiveRef(i)], here[y.Sharer.chain.TrackingRef(y.Conn.Remote, i)]
		if live.IsZero() || live != here[repo.OwnRef(i)] || live == tracked {
			continue
		}
		p, err := y.planIssue(ctx, r.writer, i, remote.FetchedRef{Tip: tracked}, nil)
		if err != nil || p.tip != p.live.Tip || len(p.update()) == 0 || p.archive != nil && p.publishes() {
			continue
		}
		if p.archive == nil || y.planArchive(p, remote.FetchedRef{}) == nil { // the archive does not change
			r.plans = append(r.plans, p)
		}
	}
	r.CheckPublication(ctx)
	switch err := r.MoveRemoteRefs(ctx); {
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return nil, false, err
	case err != nil: // a fetch may still succeed
		return named, false, nil
	}
	r.MoveLocalRefs(ctx)
	for _, p := range r.plans {
		var said *chain.RemoteError
		switch err := r.errs[p.issue]; {
		case err == nil && p.upToDate: // by a git push that did not update the remote-tracking ref
			y.Done[p.issue] = &chain.Synced{Issue: p.issue, Result: chain.UpToDate}
		case err == nil:
			y.Done[p.issue] = &p.done
		case errors.Is(err, remote.ErrStale):
			y.late[p.issue] = true
		case errors.As(err, &said) && said.Refused && !errors.As(err, new(*blockedError)):
			y.fail(p.issue, err)
		}
	}
	if left = y.undone(named); len(left) == 0 {
		y.progress()
	}
	return left, len(left) == 0, nil
}
