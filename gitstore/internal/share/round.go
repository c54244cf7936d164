package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

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
	y     *Syncing
	plans []*issuePlan
	errs  errorsByIssue
}

// firstRound is the number of issues in the first round. If it takes less than quickRound, the
// next round has all other issues. A time limit loses the round that it ends, and keeps those
// before.
const (
	firstRound = 1_000
	quickRound = 10 * time.Second
)

// Rounds yields plans in rounds.
func (y *Syncing) Rounds(plans []*issuePlan) iter.Seq[*Round] {
	return func(yield func(*Round) bool) {
		for size := firstRound; len(plans) > 0; {
			n, start := min(size, y.Conn.MaxRefs(), len(plans)), time.Now()
			if !yield(&Round{y, plans[:n], errorsByIssue{}}) {
				return
			}
			plans = plans[n:]
			if time.Since(start) < quickRound {
				size = y.Conn.MaxRefs()
			}
			y.progress()
		}
	}
}

// MarkDryRun changes the results to those of a dry run.
func (r *Round) MarkDryRun() {
	for _, p := range r.plans {
		if r.y.bundle {
			p.keepTheirs()
		}
		p.done.MarkDryRun()
	}
}

// WriteObjects writes the new objects of the plans.
func (r *Round) WriteObjects(ctx context.Context) {
	for _, same := range groupByWriter(r.plans) {
		if err := same[0].writer.Flush(ctx); err != nil {
			for _, p := range same {
				r.errs[p.issue] = err
			}
		}
	}
}

// MoveLocalRefs moves the local refs of the plans.
func (r *Round) MoveLocalRefs(ctx context.Context) {
	for _, p := range r.plans {
		// With this remote-tracking ref, the next fetch transfers only the newer commits.
		if err := r.errs[p.issue]; errors.Is(err, remote.ErrStale) && !p.theirs.Tip.IsZero() {
			r.errs[p.issue] = errors.Join(err, r.y.Conn.track(ctx, map[checkpoint.Issue]plumbing.Hash{p.issue: p.theirs.Tip}))
		}
	}
	r.y.updateLocalRefs(ctx, r.plans, r.errs)
}

// Finish sets the results of the plans of a sync. It returns the issues whose refs moved
// concurrently.
func (r *Round) Finish() (again []checkpoint.Issue) {
	y := r.y
	for _, p := range r.plans {
		switch err := r.errs[p.issue]; {
		case errors.Is(err, remote.ErrStale) && y.stuck(p):
			y.fail(p.issue, y.Conn.Refused(repo.LiveRef(p.issue), "the ref has the expected value, but cannot be updated: does the server hide it from pushes?", err))
		case errors.Is(err, remote.ErrStale):
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
			if y.bundle && p.tip != p.theirs.Tip {
				y.Sharer.repo.Notify("issue %s: %s is a bundle file and stays as it is: %s", p.issue, chain.ShownRemote(y.Conn.Remote), newBundle([]checkpoint.Issue{p.issue}))
			}
		}
	}
	return again
}

// stuckAfter is the number of rejections of an unchanged ref as stale after which a sync
// gives up. A few such rejections are normal, since another push may hold the lock of the
// ref.
const stuckAfter = 8

// stuck counts stale rejections, and reports whether their limit is reached.
func (y *Syncing) stuck(p *issuePlan) bool {
	before := y.stale[p.issue]
	if before.tip != p.theirs.Tip {
		before = staleTip{tip: p.theirs.Tip}
	}
	before.times++
	y.stale[p.issue] = before
	return before.times >= stuckAfter
}

// updateLocalRefs moves the local refs of the plans without errors, from values that the
// plans read. If a ref has another value, the next pass plans the issue again. It records
// plans that changed the remote although their local refs did not move.
func (y *Syncing) updateLocalRefs(ctx context.Context, plans []*issuePlan, errs errorsByIssue) {
	byIssue := map[checkpoint.Issue]*issuePlan{}
	for _, p := range plans {
		if errs[p.issue] == nil {
			byIssue[p.issue] = p
		}
	}
	u := y.Conn.newLocalUpdate(func(i checkpoint.Issue) ([]refs.Move, error) { return y.moves(ctx, byIssue[i]) })
	u.alone = y.Sharer.repo.WithIssueLock
	for _, same := range groupByWriter(plans) {
		var seen, moving []checkpoint.Issue
		for _, p := range same {
			switch {
			case byIssue[p.issue] == nil:
			case p.live.Tip != p.tip, p.own.Tip != p.tip, len(p.archive.Move(p.issue)) > 0:
				moving = append(moving, p.issue)
			default:
				seen = append(seen, p.issue)
			}
		}
		u.writer = same[0].writer
		maps.Copy(errs, u.runSeen(ctx, seen))
		maps.Copy(errs, u.run(ctx, moving))
	}
	for _, p := range byIssue {
		if errs[p.issue] != nil && !y.bundle && (!p.upToDate && len(p.update()) > 0 || len(p.archive.Update(p.issue)) > 0) {
			y.pushedOnly[p.issue] = p.done.After(y.pushedOnly[p.issue])
		}
	}
}

// groupByWriter returns groups of successive plans that share an ObjectWriter.
func groupByWriter(plans []*issuePlan) (groups [][]*issuePlan) {
	for len(plans) > 0 {
		n := 1
		for n < len(plans) && plans[n].writer == plans[0].writer {
			n++
		}
		groups, plans = append(groups, plans[:n]), plans[n:]
	}
	return groups
}

// moves returns the local ref moves of a plan. It fails if a ref has another value than in
// the plan.
func (y *Syncing) moves(ctx context.Context, p *issuePlan) ([]refs.Move, error) {
	if p.doubles != nil {
		if err := p.doubles(); err != nil {
			return nil, err
		}
	}
	list := append(p.archive.Move(p.issue),
		refs.Move{Name: repo.LiveRef(p.issue), Old: p.live.Tip, New: p.tip},
		refs.Move{Name: repo.OwnRef(p.issue), Old: p.own.Tip, New: p.tip})
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
	shared := p.tip
	if y.bundle {
		shared = p.theirs.Tip
	}
	tracking, err := y.Conn.trackingMove(ctx, p.issue, shared)
	return slices.DeleteFunc(append(list, tracking...), func(m refs.Move) bool { return m.Old == m.New }), err
}

// maxTogether limits issues that are planned and moved together, because their chains stay in
// memory.
const maxTogether = 10_000

// A localUpdate moves local refs of issues.
type localUpdate struct {
	s       *Sharer
	message string             // for the reflogs
	writer  *repo.ObjectWriter // contains the new objects

	// moves returns the moves of a locked issue.
	moves func(checkpoint.Issue) ([]refs.Move, error)
	// alone runs a function with a single issue locked: WithIssueLock or Retry.
	alone func(ctx context.Context, i checkpoint.Issue, f func() error) error
	// restore is set if a transaction of several issues first restores checkpoints that
	// plain git removed. Retry does this for a single issue.
	restore bool
}

// newLocalUpdate returns a localUpdate that retries a single issue if its refs move
// concurrently.
func (l *conn) newLocalUpdate(moves func(checkpoint.Issue) ([]refs.Move, error)) *localUpdate {
	return &localUpdate{
		s: l.s, message: l.Op + ": " + chain.ShownRemote(l.Remote), writer: l.s.repo.NewObjectWriter(),
		moves: moves, alone: l.s.chain.Retry,
	}
}

// someIssues is the number of issues in a transaction after one of more issues has failed.
const someIssues = 100

// run moves the refs of issues in one transaction. If it fails, run moves them in smaller
// transactions, and then the refs of each failed issue alone, since an error may concern only
// one issue.
func (u *localUpdate) run(ctx context.Context, issues []checkpoint.Issue) errorsByIssue {
	errs, left := errorsByIssue{}, issues
	if len(issues) > 1 {
		err := u.s.repo.WithIssueLocks(ctx, issues, func() error { return u.move(ctx, issues, errs) })
		left = errs.left(issues, err)
	}
	if len(issues) > someIssues {
		for some := range slices.Chunk(left, someIssues) {
			maps.Copy(errs, u.run(ctx, some))
		}
		return errs
	}
	for _, i := range left {
		errs[i] = u.alone(ctx, i, func() error {
			alone := errorsByIssue{}
			err := u.move(ctx, []checkpoint.Issue{i}, alone)
			return cmp.Or(alone[i], err)
		})
	}
	return errs
}

// left adds the error of a transaction to the errors of its issues, and returns the issues whose
// refs have not moved.
func (errs errorsByIssue) left(issues []checkpoint.Issue, err error) (left []checkpoint.Issue) {
	for _, i := range issues {
		if errs[i] = cmp.Or(errs[i], err); errs[i] != nil && !repo.IsDone(errs[i]) {
			left = append(left, i)
		}
	}
	return left
}

// runSeen is run for issues of which only remote-tracking refs move. A lost update of such a
// ref is harmless, so the lock of bookkeeping refs suffices.
func (u *localUpdate) runSeen(ctx context.Context, issues []checkpoint.Issue) errorsByIssue {
	if len(issues) < 2 {
		return u.run(ctx, issues)
	}
	errs := errorsByIssue{}
	err := u.s.repo.WithNamedLocks(ctx, []string{refs.Bookkeeping}, func() error { return u.move(ctx, issues, errs) })
	maps.Copy(errs, u.run(ctx, errs.left(issues, err)))
	return errs
}

// move moves the refs of locked issues in one transaction. It leaves out issues whose
// moves are unknown, and adds their errors to errs.
func (u *localUpdate) move(ctx context.Context, issues []checkpoint.Issue, errs errorsByIssue) error {
	var list []refs.Move
	for _, i := range issues {
		var moves []refs.Move
		var err error
		if u.restore && len(issues) > 1 {
			err = u.s.chain.RestoreOwnChain(ctx, i, true)
		}
		if err == nil {
			moves, err = u.moves(i)
		}
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

// track sets the remote-tracking refs of issues to tips.
func (l *conn) track(ctx context.Context, tips map[checkpoint.Issue]plumbing.Hash) error {
	u := l.newLocalUpdate(func(i checkpoint.Issue) ([]refs.Move, error) { return l.trackingMove(ctx, i, tips[i]) })
	for some := range slices.Chunk(slices.Sorted(maps.Keys(tips)), maxTogether) {
		errs := u.runSeen(ctx, some)
		for _, i := range some {
			if errs[i] != nil {
				return errs[i]
			}
		}
	}
	return nil
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
