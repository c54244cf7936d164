package gitstore

import (
	"context"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/remote"

	"github.com/go-git/go-git/v5/plumbing"
)

// A syncPlan is the plan of a sync for one issue.
type syncPlan struct {
	issue   checkpoint.Issue
	live    *chain
	own     *chain // the chain at own/
	theirs  *chain
	tip     plumbing.Hash // new chain tip for both sides
	k       *objectWriter // contains the new objects
	want    join.State    // chain state at tip
	archive *archivePlan  // nil if a chain is shallow
	there   bool          // the remote ref already has the value tip
	remarks []string      // messages about the merge
	done    Synced
}

// planAll plans a sync of issues. Issues that move in one transaction share an object
// writer.
func (y *syncing) planAll(ctx context.Context, issues []checkpoint.Issue, in fetched, known *names) []*syncPlan {
	y.s.refs.Hold()
	defer y.s.refs.Let()
	var plans []*syncPlan
	var k *objectWriter
	for n, i := range issues {
		if n%maxIssuesPerTransaction == 0 {
			k = y.s.newObjectWriter()
		}
		p, err := y.plan(ctx, k, i, in[i])
		if err == nil && p.live.tip.IsZero() && !p.tip.IsZero() {
			err = known.check(ctx, i)
		}
		if err != nil {
			y.fail(i, err)
			continue
		}
		plans = append(plans, p)
	}
	return plans
}

// plan reads an issue's chains and merges them, without writing. Concurrent changes of
// refs are detected when the refs move.
func (y *syncing) plan(ctx context.Context, k *objectWriter, i checkpoint.Issue, a remote.FetchedRef) (p *syncPlan, err error) {
	if a.Err != nil {
		return nil, a.Err
	}
	s := y.s
	p = &syncPlan{issue: i, k: k, done: Synced{Issue: i, Retries: y.tries}}
	if p.live, err = s.readChain(ctx, i, LiveRef(i), 0); err != nil {
		return nil, err
	}
	if p.own, err = s.readChain(ctx, i, ownRef(i), 0); err != nil {
		return nil, err
	}
	if p.theirs, err = s.theirChain(y.conn.Remote, i, a.Tip); err != nil {
		return nil, err
	}
	if p.live.cut || p.own.cut || p.theirs.cut {
		return p, y.planCut(p)
	}
	return p, y.planJoin(ctx, p)
}

// planJoin plans the merge of complete chains.
func (y *syncing) planJoin(ctx context.Context, p *syncPlan) error {
	live, gone := y.s.withoutGone(p.live, p.theirs)
	own, more := y.s.withoutGone(p.own, p.theirs)
	tip, want, woven, err := y.s.mergeChains(p.k, p.theirs, live, own)
	if err != nil {
		return err
	}
	if woven {
		tip, p.remarks = y.s.mergeWork(ctx, p.k, tip, want, p.theirs, live, own)
	}
	p.remarks = append(p.remarks, leftOut(p.issue, append(gone, more...))...)
	here, err := y.s.readChain(ctx, p.issue, ArchiveRef(p.issue), 0)
	if err != nil {
		return err
	}
	p.tip, p.want, p.archive = tip, want, &archivePlan{here: here, theirs: y.s.noChain(here)}
	p.count(woven)
	return nil
}

// planCut plans a sync with a shallow chain. One chain must extend or contain the other,
// since commits below a shallow boundary cannot be rewritten.
func (y *syncing) planCut(p *syncPlan) error {
	ours := p.live
	if ours.tip.IsZero() {
		ours = p.own
	}
	p.tip = ours.tip
	switch relate(ours, p.theirs) {
	case same, ahead:
		p.done.Pushed = ours.without(p.theirs)
	case behind:
		p.tip, p.done.Fetched = p.theirs.tip, p.theirs.without(ours)
	default:
		if !containsAll(p.theirs, p.live, p.own) {
			return y.cutRefusal()
		}
		p.tip, p.done.Fetched = p.theirs.tip, p.theirs.without(ours)
	}
	p.name(false)
	return nil
}

func (y *syncing) cutRefusal() error {
	return &RefusedError{
		Reason: "each side has checkpoints that the other lacks, and history is cut here: chains can't be joined",
		Hint:   "git fetch --unshallow " + shellQuote(y.conn.Remote),
	}
}

// count sets the numbers of fetched and pushed checkpoints.
func (p *syncPlan) count(woven bool) {
	live, own, theirs := p.live.index(), p.own.index(), p.theirs.index()
	for id := range p.want.Checkpoints {
		if live[id] == nil && own[id] == nil {
			p.done.Fetched++
		}
		if theirs[id] == nil {
			p.done.Pushed++
		}
	}
	p.name(woven && p.tip != p.live.tip)
}

// name sets the result of the issue.
func (p *syncPlan) name(woven bool) {
	switch {
	case p.tip.IsZero():
		p.done.Result = Absent
	case woven:
		p.done.Result, p.done.Joined = Joined, true
	case p.tip != p.theirs.tip:
		p.done.Result = Pushed
	case p.tip != p.live.tip:
		p.done.Result = Fetched
	default:
		p.done.Result = UpToDate
	}
}
