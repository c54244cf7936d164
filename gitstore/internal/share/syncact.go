package share

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// execute executes plans, remote moves first. It returns the issues whose refs moved
// concurrently.
func (y *Syncing) execute(ctx context.Context, plans []*syncPlan) (again []checkpoint.Issue, err error) {
	for len(plans) > 0 {
		n := countForOnePush(issuePushes(plans))
		moved, err := y.executeTogether(ctx, plans[:n])
		if err != nil {
			return nil, err
		}
		again, plans = append(again, moved...), plans[n:]
		y.progress()
	}
	return again, nil
}

func issuePushes(plans []*syncPlan) []issuePush {
	list := make([]issuePush, len(plans))
	for n, p := range plans {
		list[n] = issuePush{p.issue, append(p.archive.Update(p.issue), p.update()...)}
	}
	return list
}

func (y *Syncing) executeTogether(ctx context.Context, plans []*syncPlan) (again []checkpoint.Issue, err error) {
	outcome, err := y.push(ctx, plans)
	if err != nil {
		return nil, err
	}
	y.finishPushed(ctx, plans, outcome)
	for _, p := range plans {
		switch err := outcome[p.issue]; {
		case errors.Is(err, remote.ErrStale) && y.stuck(p):
			y.fail(p.issue, y.Conn.Refused(repo.LiveRef(p.issue), "it is where it was expected, and can't be moved: does the server hide it from pushes?", err))
		case errors.Is(err, remote.ErrStale):
			y.late[p.issue] = true
			again = append(again, p.issue)
		case errors.Is(err, repo.ErrRefMoved):
			again = append(again, p.issue)
		case err != nil:
			y.fail(p.issue, err)
		default:
			done := p.done.After(y.given[p.issue])
			y.Done[p.issue] = &done
			for _, text := range p.remarks {
				y.Sharer.Notify("%s", text)
			}
		}
	}
	return again, nil
}

// stuckAfter is the number of rejections of an unchanged ref as stale after which a sync
// gives up. A few such rejections are normal, since another push may hold the lock of the
// ref.
const stuckAfter = 8

// stuck counts stale rejections, and reports whether their limit is reached.
func (y *Syncing) stuck(p *syncPlan) bool {
	before := y.stale[p.issue]
	if before.tip != p.theirs.Tip {
		before = staleTip{tip: p.theirs.Tip}
	}
	before.times++
	y.stale[p.issue] = before
	return before.times >= stuckAfter
}

// push pushes plans, the archives first. If the sync is interrupted, the archive must
// already contain the checkpoints that leave a chain.
func (y *Syncing) push(ctx context.Context, plans []*syncPlan) (errorsByIssue, error) {
	refused := errorsByIssue{}
	if y.req.DryRun {
		return refused, nil
	}
	for _, same := range groupByWriter(plans) {
		if err := same[0].k.Flush(ctx); err != nil {
			refused.all(same, err)
		}
	}
	shown := slices.DeleteFunc(issuePushes(plans), func(g issuePush) bool { return refused[g.issue] != nil || len(g.updates) == 0 })
	j := &exposureCheck{y.Sharer, y.Conn.Remote, y.req.May, y.req.Harmless}
	j.check(ctx, shown, refused)
	if err := y.send(ctx, plans, refused, func(p *syncPlan) []remote.RefUpdate { return p.archive.Update(p.issue) }); err != nil {
		return refused, err
	}
	return refused, y.send(ctx, plans, refused, (*syncPlan).update)
}

func (o errorsByIssue) all(plans []*syncPlan, err error) {
	for _, p := range plans {
		o[p.issue] = err
	}
}

// groupByWriter returns groups of successive plans that share an ObjectWriter.
func groupByWriter(plans []*syncPlan) (groups [][]*syncPlan) {
	for len(plans) > 0 {
		n := 1
		for n < len(plans) && plans[n].k == plans[0].k {
			n++
		}
		groups, plans = append(groups, plans[:n]), plans[n:]
	}
	return groups
}

// update returns the remote chain's ref update, or nil without changes.
func (p *syncPlan) update() []remote.RefUpdate {
	if p.tip.IsZero() || p.tip == p.theirs.Tip {
		return nil
	}
	return []remote.RefUpdate{{Ref: repo.LiveRef(p.issue), Tip: p.tip, Seen: p.theirs.Tip}}
}

// send pushes one ref of each issue that has no error yet.
func (y *Syncing) send(ctx context.Context, plans []*syncPlan, refused errorsByIssue, of func(*syncPlan) []remote.RefUpdate) error {
	var updates []remote.RefUpdate
	for _, p := range plans {
		if refused[p.issue] == nil {
			updates = append(updates, of(p)...)
		}
	}
	if len(updates) == 0 {
		return nil
	}
	said, err := y.Conn.Push(ctx, false, updates...)
	for _, p := range plans {
		for _, g := range of(p) {
			if errors.Is(said[g.Ref], remote.ErrUpToDate) {
				p.there = p.there || g.Tip == p.tip
				continue
			}
			refused[p.issue] = cmp.Or(refused[p.issue], said[g.Ref])
		}
	}
	return err
}

// finishPushed updates the local refs after the remote has answered.
func (y *Syncing) finishPushed(ctx context.Context, plans []*syncPlan, outcome errorsByIssue) {
	var landing []*syncPlan
	for _, p := range plans {
		refused := outcome[p.issue]
		switch {
		case y.req.DryRun:
			p.done.Would()
		case refused == nil:
			landing = append(landing, p)
		case errors.Is(refused, remote.ErrStale) && !p.theirs.Tip.IsZero():
			// With this ref, the next fetch transfers only the newer commits.
			outcome[p.issue] = errors.Join(refused, y.Conn.track(ctx, map[checkpoint.Issue]plumbing.Hash{p.issue: p.theirs.Tip}))
		}
	}
	for _, same := range groupByWriter(landing) {
		y.updateLocalRefs(ctx, same, outcome)
	}
	y.notePushed(landing, outcome)
}

// notePushed records plans that changed the remote although their local refs did not
// move.
func (y *Syncing) notePushed(landing []*syncPlan, outcome errorsByIssue) {
	for _, p := range landing {
		if outcome[p.issue] != nil && (!p.there && len(p.update()) > 0 || len(p.archive.Update(p.issue)) > 0) {
			y.given[p.issue] = p.done.After(y.given[p.issue])
		}
	}
}
