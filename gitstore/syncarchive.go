package gitstore

import (
	"context"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/remote"
)

// withArchives plans archives of issues, and returns plans without errors.
func (y *syncing) withArchives(plans []*syncPlan, in fetched) []*syncPlan {
	var sound []*syncPlan
	for _, p := range plans {
		if p.archive != nil {
			if err := y.planArchive(p, in[p.issue]); err != nil {
				y.fail(p.issue, err)
				continue
			}
		}
		sound = append(sound, p)
	}
	return sound
}

// theirArchives fetches the remote archives of issues whose local archive will be pushed.
func (y *syncing) theirArchives(ctx context.Context, plans []*syncPlan) (fetched, error) {
	var names []string
	for _, p := range plans {
		if p.archive != nil && (y.req.Archived || p.publishes()) {
			p.archive.shared = true
			names = append(names, ArchiveRef(p.issue))
		}
	}
	in := fetched{}
	if len(names) == 0 {
		return in, nil
	}
	tips, err := y.conn.Tips(ctx, names...)
	if err != nil {
		return in, err
	}
	var want []checkpoint.Issue
	var refs []string
	for _, p := range plans {
		switch tip := tips[ArchiveRef(p.issue)]; {
		case tip.IsZero():
		case tip == p.archive.here.tip:
			in[p.issue] = remote.FetchedRef{Tip: tip}
		default:
			want, refs = append(want, p.issue), append(refs, ArchiveRef(p.issue))
		}
	}
	came, err := y.conn.FetchWhole(ctx, refs)
	in.add(want, ArchiveRef, came)
	return in, err
}

// publishes reports whether a sync changes the archived checkpoints at the remote: the
// pushed ledger has new archivals, or deletes an archived checkpoint.
func (p *syncPlan) publishes() bool {
	for id := range p.want.Ledger.Archived {
		if !p.theirs.ledger.IsArchived(id) {
			return true
		}
	}
	for id := range p.theirs.ledger.Archived {
		if p.want.Ledger.Deleted[id] {
			return true
		}
	}
	return false
}

// planArchive merges the local archive, the remote archive, and the checkpoints that move
// to the archive.
func (y *syncing) planArchive(p *syncPlan, came remote.FetchedRef) (err error) {
	if came.Err != nil {
		return came.Err
	}
	a := p.archive
	if a.theirs, err = y.s.walk(p.issue, ArchiveRef(p.issue), came.Tip, 0); err != nil {
		return err
	}
	if err := a.theirs.checkRoot(); err != nil {
		return y.s.corruptThere(y.conn.Remote, ArchiveRef(p.issue), came.Tip, err)
	}
	moving := p.moving()
	if !a.here.whole() || !a.theirs.whole() {
		if a.tip, a.there = a.here.tip, a.theirs.tip; len(moving.commits) > 0 || a.here.tip != a.theirs.tip {
			return a.here.readOnly()
		}
		return nil
	}
	shared, want := join.MergeArchives(p.want, a.theirs.asChain(), a.here.asChain(), moving.asChain())
	if a.tip, err = y.s.pickArchive(p.k, want, a.theirs, a.here, moving); err != nil {
		return err
	}
	if a.there, err = y.s.pickArchive(p.k, shared, a.theirs, a.here, moving); err != nil {
		return err
	}
	if n := a.here.countIn(p.want); n > 0 {
		p.remarks = append(p.remarks, fmt.Sprintf("issue %s: %d of its archive's checkpoints were in its chain too, and left the archive", p.issue, n))
	}
	p.countArchived(want)
	return nil
}

// moving returns checkpoints that move from a chain to the local archive.
func (p *syncPlan) moving() *chain {
	return movingTo(p.archive.here, p.want.Ledger, p.live, p.own, p.theirs)
}

// countArchived adds the fetched and pushed checkpoints of archives to the result.
func (p *syncPlan) countArchived(want join.State) {
	a := p.archive
	if !a.shared {
		return
	}
	here, there := a.here.index(), a.theirs.index()
	live, own, theirs := p.live.index(), p.own.index(), p.theirs.index()
	for id := range want.Checkpoints {
		if here[id] == nil && live[id] == nil && own[id] == nil {
			p.done.Fetched++
		}
		if there[id] == nil && theirs[id] == nil {
			p.done.Pushed++
		}
	}
	switch {
	case p.done.Result != UpToDate && p.done.Result != Absent:
	case a.there != a.theirs.tip:
		p.done.Result = Pushed
	case a.tip != a.here.tip:
		p.done.Result = Fetched
	}
}
