package share

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

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
			err = repo.Pushed(i, chain.ShownRemote(y.Conn.Remote), err)
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

// Pause waits before the next attempt, and counts it. The delay is random, so that clones do not
// retry at the same time, and grows to about two seconds.
func (y *Syncing) Pause(ctx context.Context) error {
	longest := min(2*time.Second, 20*time.Millisecond<<min(y.Tries, 10))
	y.Tries++
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(longest/4 + rand.N(longest)):
		return nil
	}
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
		y.fail(i, &remote.Error{Op: y.Conn.Op, Remote: chain.ShownRemote(y.Conn.Remote), Reason: repo.ErrMoved.Error(), Err: repo.ErrMoved, Refused: true})
	}
}

// A Theirs has the chains of a remote, as one attempt has fetched them.
type Theirs struct {
	Issues []checkpoint.Issue // the issues of the attempt
	conn   *remote.Conn
	came   map[string]remote.FetchedRef // chains and archives, by their refs at the remote
	tips   map[string]plumbing.Hash     // all refs of the remote
	listed *remote.Exposed              // by WithListed, the same for all rounds
	names  *chain.Names
}

// Forget deletes the temporary refs of the fetched chains.
func (t *Theirs) Forget(ctx context.Context) {
	t.conn.Forget(ctx, slices.Collect(maps.Values(t.came))...)
}

// FetchMissing lists the refs of the remote, and fetches the chains of issues, of all issues
// for an empty list, that are missing here. An issue that both sides have in the same state
// gets its result. The result is never nil.
func (y *Syncing) FetchMissing(ctx context.Context, issues []checkpoint.Issue) (t *Theirs, err error) {
	t = &Theirs{conn: y.Conn, names: &chain.Names{Chains: y.Sharer.chain}}
	if t.tips, err = y.Conn.Tips(ctx); err != nil {
		return t, err
	}
	if len(issues) != 1 { // for Plan too, unless a fetch or the lock of the issues ends the cache
		y.Sharer.repo.CacheRefs(ctx)
	}
	here, err := y.Sharer.chain.RefsHere(ctx, y.Conn.Remote, issues)
	if err != nil {
		return t, err
	}
	if len(issues) == 0 {
		var strange []string
		issues, strange = issuesOf(t.tips, repo.LiveRefs)
		y.Sharer.WarnInvalidRefs(chain.ShownRemote(y.Conn.Remote)+": ", strange)
		if y.Conn.Op != "fetch" {
			ours, _ := issuesOf(here, repo.LiveRefs, repo.OwnRefs)
			issues = append(issues, ours...)
		}
		slices.Sort(issues)
		issues = slices.Compact(issues)
	}
	if y.Open == nil {
		y.Open = issues
	}
	issues = y.undone(issues)
	if !y.req.Archived {
		issues = y.outOfSync(issues, t.tips, here)
	}
	y.progress()
	t.Issues = issues
	t.came, err = y.incoming(ctx, issues, t.tips, here)
	return t, err
}

// MaxTogether limits the issues that are planned, pushed and moved together: their chains stay in
// memory, git compares each pushed ref with each ref of the remote, and a time limit loses the round
// that it ends.
const MaxTogether = 1_000

// Plan compares the local and the fetched chains of issues, and joins them in a sync, without
// writing. It fetches the archives of issues whose local archive will be pushed.
func (y *Syncing) Plan(ctx context.Context, t *Theirs, issues []checkpoint.Issue) (*Round, error) {
	r := &Round{y: y, theirs: t, writer: y.Sharer.repo.NewObjectWriter(), errs: map[checkpoint.Issue]error{}}
	if len(issues) > 1 && y.Sharer.repo.CacheRefs(ctx) {
		defer y.Sharer.repo.Refs.Release()
	}
	for _, i := range issues {
		p, err := y.planIssue(ctx, r.writer, i, t.came[repo.LiveRef(i)])
		if err == nil && p.live.Tip.IsZero() && !p.tip.IsZero() && !p.seen {
			err = t.names.Check(ctx, i)
		}
		if err != nil {
			y.fail(i, err)
			continue
		}
		r.plans = append(r.plans, p)
	}
	if err := y.theirArchives(ctx, t, r.plans); err != nil {
		return nil, err
	}
	r.plans = slices.DeleteFunc(r.plans, func(p *issuePlan) bool {
		if p.archive == nil {
			return false
		}
		err := y.planArchive(ctx, p, t.came[repo.ArchiveRef(p.issue)])
		if err != nil {
			y.fail(p.issue, err)
		}
		return err != nil
	})
	return r, nil
}
