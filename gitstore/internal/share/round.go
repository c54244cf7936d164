package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Round is a number of plans that are executed together over one connection. A step leaves
// out plans that an earlier step has failed.
type Round struct {
	y      *Syncing
	plans  []*issuePlan
	writer *repo.ObjectWriter // contains the new objects
	errs   errorsByIssue
	listed bool // the refs of the remote were listed
}

func (y *Syncing) newRound(listed bool) *Round {
	return &Round{y: y, writer: y.Sharer.repo.NewObjectWriter(), errs: errorsByIssue{}, listed: listed}
}

// MarkDryRun changes the results to those of a dry run. A push names what it would make public.
func (r *Round) MarkDryRun(ctx context.Context) {
	if r.y.Conn.Op == "push" {
		r.CheckPublication(ctx)
	}
	for _, p := range r.plans {
		p.done.MarkDryRun()
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
	y, byIssue := r.y, map[checkpoint.Issue]*issuePlan{}
	var seen, moving []checkpoint.Issue
	for _, p := range r.plans {
		switch err := r.errs[p.issue]; {
		case errors.Is(err, remote.ErrStale) && !p.theirs.Tip.IsZero():
			// With this remote-tracking ref, the next fetch transfers only the newer commits.
			r.errs[p.issue] = errors.Join(err, y.Conn.track(ctx, p.issue, p.theirs.Tip))
			continue
		case err != nil:
			continue
		case p.seen, p.live.Tip == p.tip && p.own.Tip == p.tip && len(p.archive.Move(p.issue)) == 0:
			seen = append(seen, p.issue)
		default:
			moving = append(moving, p.issue)
		}
		byIssue[p.issue] = p
	}
	u := y.Conn.newLocalUpdate(r.writer, func(i checkpoint.Issue) ([]refs.Move, error) { return y.moves(ctx, byIssue[i]) })
	maps.Copy(r.errs, u.run(ctx, seen, true))
	maps.Copy(r.errs, u.run(ctx, moving, false))
	for _, p := range byIssue {
		if r.errs[p.issue] != nil && (!p.upToDate && len(p.update()) > 0 || len(p.archive.Update(p.issue)) > 0) {
			y.pushedOnly[p.issue] = p.done.After(y.pushedOnly[p.issue])
		}
	}
}

// Finish sets the results of the plans. It returns the issues whose refs moved
// concurrently.
func (r *Round) Finish() (again []checkpoint.Issue) {
	y := r.y
	for _, p := range r.plans {
		err := r.errs[p.issue]
		isStale := errors.Is(err, remote.ErrStale)
		if isStale {
			y.stale[staleTip{p.issue, p.theirs.Tip}]++
		}
		switch {
		case isStale && y.stale[staleTip{p.issue, p.theirs.Tip}] >= stuckAfter:
			y.fail(p.issue, y.Conn.Refused(repo.LiveRef(p.issue), "the ref has the expected value, but cannot be updated: does the server hide it from pushes?", err))
		case isStale:
			y.late[p.issue] = true
			again = append(again, p.issue)
		case errors.Is(err, repo.ErrRefMoved):
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
	tracking, err := y.Conn.trackingMove(ctx, p.issue, p.shared)
	return slices.DeleteFunc(append(list, tracking...), func(m refs.Move) bool { return m.Old == m.New }), err
}

// A localUpdate moves local refs of issues.
type localUpdate struct {
	s       *Sharer
	message string                                      // for the reflogs
	writer  *repo.ObjectWriter                          // contains the new objects
	moves   func(checkpoint.Issue) ([]refs.Move, error) // returns the moves of a locked issue
}

func (l *conn) newLocalUpdate(writer *repo.ObjectWriter, moves func(checkpoint.Issue) ([]refs.Move, error)) *localUpdate {
	return &localUpdate{l.s, l.Op + ": " + chain.ShownRemote(l.Remote), writer, moves}
}

// run moves the refs of issues in one transaction. If it fails, run moves those of each half
// separately, since an error may concern only one issue. A lost update of a remote-tracking ref is
// harmless: if only such refs move, the lock of bookkeeping refs suffices.
func (u *localUpdate) run(ctx context.Context, issues []checkpoint.Issue, seen bool) errorsByIssue {
	errs := errorsByIssue{}
	if len(issues) == 0 {
		return errs
	}
	names := make([]string, len(issues))
	for k, i := range issues {
		names[k] = i.RefName()
	}
	if seen {
		names = []string{refs.Bookkeeping}
	}
	err := u.s.repo.WithNamedLocks(ctx, names, func() error { return u.move(ctx, issues, errs) })
	var left []checkpoint.Issue // whose refs have not moved
	for _, i := range issues {
		if errs[i] = cmp.Or(errs[i], err); errs[i] != nil && !repo.IsDone(errs[i]) {
			left = append(left, i)
		}
	}
	if len(issues) > 1 && len(left) > 0 {
		for half := range slices.Chunk(left, (len(left)+1)/2) {
			maps.Copy(errs, u.run(ctx, half, seen))
		}
	}
	return errs
}

// move moves the refs of locked issues in one transaction. It leaves out issues whose
// moves are unknown, and adds their errors to errs.
func (u *localUpdate) move(ctx context.Context, issues []checkpoint.Issue, errs errorsByIssue) error {
	var list []refs.Move
	for _, i := range issues {
		moves, err := u.moves(i)
		if err != nil {
			errs[i] = err
			continue
		}
		list = append(list, moves...)
	}
	if len(list) == 0 {
		return nil
	}
	if err := u.s.repo.Move(ctx, u.writer, u.message, func() ([]refs.Move, error) { return list, nil }); err != nil {
		return err
	}
	if err := u.writer.Protect(ctx); err != nil {
		return err
	}
	u.s.forgetTracked(ctx, list)
	return nil
}

// track sets the remote-tracking ref of an issue to tip.
func (l *conn) track(ctx context.Context, i checkpoint.Issue, tip plumbing.Hash) error {
	u := l.newLocalUpdate(l.s.repo.NewObjectWriter(), func(i checkpoint.Issue) ([]refs.Move, error) { return l.trackingMove(ctx, i, tip) })
	return u.run(ctx, []checkpoint.Issue{i}, true)[i]
}

// trackingMove returns the move of an issue's remote-tracking ref to tip, or nil if it
// has this value.
func (l *conn) trackingMove(ctx context.Context, i checkpoint.Issue, tip plumbing.Hash) ([]refs.Move, error) {
	name := l.s.chain.TrackingRef(l.Remote, i)
	old, err := l.s.repo.ReadRef(ctx, name)
	if err != nil || old == tip || tip.IsZero() {
		return nil, err
	}
	return []refs.Move{{Name: name, Old: old, New: tip}}, nil
}
