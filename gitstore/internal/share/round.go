package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"
)

// A Round is a number of plans that are executed together over one connection. A step leaves
// out plans that an earlier step has failed.
type Round struct {
	y      *Syncing
	theirs *Theirs
	plans  []*issuePlan
	writer *repo.ObjectWriter         // contains the new objects
	errs   map[checkpoint.Issue]error // of the push or the local update
}

// MarkDryRun changes the results to those of a dry run. A push names what it would make public.
func (r *Round) MarkDryRun(ctx context.Context) {
	if r.y.Conn.Op == "push" {
		r.CheckPublication(ctx)
	}
	for _, p := range r.plans {
		if p.done.Result == chain.Pushed || p.done.Result == chain.Fetched || p.done.Joined {
			p.done.Result = "would be " + p.done.Result
		}
	}
}

// WriteObjects writes the new objects of the plans.
func (r *Round) WriteObjects(ctx context.Context) {
	if err := r.writer.Flush(ctx); err != nil {
		for _, p := range r.plans {
			r.errs[p.issue] = err
		}
	}
}

// MoveLocalRefs moves the local refs of the plans without errors, from values that the
// plans read. If a ref has another value, the next attempt plans the issue again. It records
// plans that changed the remote although their local refs did not move.
func (r *Round) MoveLocalRefs(ctx context.Context) {
	var seen, moving []*issuePlan
	var known []checkpoint.Issue // whose operations the remote knows: plain git may have pushed the chain
	for _, p := range r.plans {
		if r.errs[p.issue] != nil {
			continue
		}
		if !p.tip.IsZero() && p.tip == p.theirs.Tip {
			known = append(known, p.issue)
		}
		if p.seen || p.live.Tip == p.tip && p.own.Tip == p.tip && len(p.archive.Move(p.issue)) == 0 {
			seen = append(seen, p)
		} else {
			moving = append(moving, p)
		}
	}
	shown := chain.ShownRemote(r.y.Conn.Remote)
	if err := r.y.Sharer.log.NotePush(ctx, shown, known); err != nil {
		r.y.Sharer.repo.Notify("an undo may not know that %s has what it reverts: %v", shown, err)
	}
	r.moveLocal(ctx, seen, true)
	r.moveLocal(ctx, moving, false)
	for _, p := range slices.Concat(seen, moving) {
		if r.errs[p.issue] != nil && len(p.updates()) > 0 {
			r.y.pushedOnly[p.issue] = p.done.After(r.y.pushedOnly[p.issue])
		}
	}
}

// moveLocal moves the local refs of plans in one transaction. If it fails, moveLocal moves those of
// each half separately, since an error may concern only one issue. A lost update of a
// remote-tracking ref is harmless: if only such refs move, the lock of bookkeeping refs suffices.
func (r *Round) moveLocal(ctx context.Context, plans []*issuePlan, seen bool) {
	if len(plans) == 0 {
		return
	}
	names := []string{refs.Bookkeeping}
	if !seen {
		names = nil
		for _, p := range plans {
			names = append(names, p.issue.RefName())
		}
	}
	err := r.y.Sharer.repo.WithNamedLocks(ctx, names, func() error { return r.moveLocked(ctx, plans) })
	var left []*issuePlan // whose refs have not moved
	for _, p := range plans {
		if r.errs[p.issue] = cmp.Or(r.errs[p.issue], err); r.errs[p.issue] != nil && !repo.IsDone(r.errs[p.issue]) {
			left = append(left, p)
		}
	}
	if len(plans) == 1 || len(left) == 0 {
		return
	}
	for half := range slices.Chunk(left, (len(left)+1)/2) {
		for _, p := range half {
			delete(r.errs, p.issue)
		}
		r.moveLocal(ctx, half, seen)
	}
}

// moveLocked moves the refs of plans with locked issues in one transaction. It leaves out plans
// whose moves are unknown, and notes their errors.
func (r *Round) moveLocked(ctx context.Context, plans []*issuePlan) error {
	var list []refs.Move
	for _, p := range plans {
		moves, err := r.y.moves(ctx, p)
		if err != nil {
			r.errs[p.issue] = err
			continue
		}
		list = append(list, moves...)
	}
	if len(list) == 0 {
		return nil
	}
	s, message := r.y.Sharer, r.y.Conn.Op+": "+chain.ShownRemote(r.y.Conn.Remote)
	if err := s.repo.Move(ctx, r.writer, message, func() ([]refs.Move, error) { return list, nil }); err != nil {
		return err
	}
	if err := r.writer.Protect(ctx); err != nil {
		return err
	}
	s.forgetTracked(ctx, list)
	return nil
}

// Finish sets the results of the plans. It returns the issues whose refs moved
// concurrently.
func (r *Round) Finish() (again []checkpoint.Issue) {
	y := r.y
	for _, p := range r.plans {
		err := r.errs[p.issue]
		isStale, listed := errors.Is(err, remote.ErrStale), remote.RefUpdate{Ref: repo.LiveRef(p.issue), Seen: p.theirs.Tip}
		if isStale {
			y.stale[listed]++
		}
		switch {
		case isStale && y.stale[listed] >= stuckAfter:
			if said, ok := errors.AsType[*remote.Error](err); ok {
				err = said
			} else {
				err = y.Conn.Refused(repo.LiveRef(p.issue), "the ref has the expected value, but cannot be updated: does the server hide it from pushes?", err)
			}
			y.fail(p.issue, err)
		case isStale, errors.Is(err, repo.ErrRefMoved):
			again = append(again, p.issue)
		case err != nil:
			y.fail(p.issue, err)
		default:
			done := p.done.After(y.pushedOnly[p.issue])
			y.Done[p.issue] = &done
			for _, text := range p.remarks {
				y.Sharer.repo.Notify("%s", text)
			}
			if y.Conn.Bundle && p.tip != p.theirs.Tip {
				y.Sharer.repo.Notify("issue %s: %s is a bundle file and stays as it is: %s", p.issue, chain.ShownRemote(y.Conn.Remote), newBundle([]checkpoint.Issue{p.issue}))
			}
		}
	}
	y.progress()
	return again
}

// stuckAfter is the number of rejections of an unchanged ref as stale after which a sync
// gives up. A few such rejections are normal, since another push may hold the lock of the
// ref.
const stuckAfter = 8

// moves returns the local ref moves of a plan. It fails if a ref has another value than in
// the plan.
func (y *Syncing) moves(ctx context.Context, p *issuePlan) ([]refs.Move, error) {
	if p.doubles != nil {
		if err := p.doubles(); err != nil {
			return nil, err
		}
	}
	var list []refs.Move
	if !p.seen {
		list = append(p.archive.Move(p.issue),
			refs.Move{Name: repo.LiveRef(p.issue), Old: p.live.Tip, New: p.tip},
			refs.Move{Name: repo.OwnRef(p.issue), Old: p.own.Tip, New: p.tip})
	}
	for _, m := range list {
		if m.Old == m.New && m.Name == repo.OwnRef(p.issue) && p.live.Tip == p.tip {
			continue // the live ref tells whether the chain has moved
		}
		now, err := y.Sharer.repo.ReadRef(ctx, m.Name)
		if err != nil {
			return nil, err
		}
		if now != m.Old {
			return nil, fmt.Errorf("%w: %s is at %s", repo.ErrRefMoved, m.Name, now)
		}
	}
	if name := y.Sharer.chain.TrackingRef(y.Conn.Remote, p.issue); !p.shared.IsZero() {
		old, err := y.Sharer.repo.ReadRef(ctx, name)
		if err != nil {
			return nil, err
		}
		list = append(list, refs.Move{Name: name, Old: old, New: p.shared})
	}
	return slices.DeleteFunc(list, func(m refs.Move) bool { return m.Old == m.New }), nil
}
