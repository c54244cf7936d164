package share

import (
	"context"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"
)

// withArchives plans archives of issues, and returns plans without errors.
func (y *Syncing) withArchives(plans []*issuePlan, in fetched) []*issuePlan {
	var sound []*issuePlan
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
func (y *Syncing) theirArchives(ctx context.Context, plans []*issuePlan) (fetched, error) {
	var names []string
	for _, p := range plans {
		if p.archive != nil && (y.req.Archived || p.publishes()) {
			p.archive.Shared = true
			names = append(names, repo.ArchiveRef(p.issue))
		}
	}
	in := fetched{}
	if len(names) == 0 {
		return in, nil
	}
	tips, err := y.Conn.Tips(ctx, names...)
	if err != nil {
		return in, err
	}
	var want []checkpoint.Issue
	var refs []string
	for _, p := range plans {
		switch tip := tips[repo.ArchiveRef(p.issue)]; {
		case tip.IsZero():
		case tip == p.archive.Here.Tip:
			in[p.issue] = remote.FetchedRef{Tip: tip}
		default:
			want, refs = append(want, p.issue), append(refs, repo.ArchiveRef(p.issue))
		}
	}
	came, err := y.Conn.FetchWhole(ctx, refs)
	in.add(want, repo.ArchiveRef, came)
	return in, err
}

// publishes reports whether a sync changes the archived checkpoints at the remote: the
// pushed ledger has new archivals, or deletes an archived checkpoint.
func (p *issuePlan) publishes() bool {
	for id := range p.want.Ledger.Archived {
		if !p.theirs.Ledger.IsArchived(id) {
			return true
		}
	}
	for id := range p.theirs.Ledger.Archived {
		if p.want.Ledger.Deleted[id] {
			return true
		}
	}
	return false
}

// planArchive merges the local archive, the remote archive, and the checkpoints that move
// to the archive.
func (y *Syncing) planArchive(p *issuePlan, came remote.FetchedRef) (err error) {
	if came.Err != nil {
		return came.Err
	}
	a := p.archive
	if a.Theirs, err = y.Sharer.Walk(p.issue, repo.ArchiveRef(p.issue), came.Tip, 0); err != nil {
		return err
	}
	if err := a.Theirs.CheckRoot(); err != nil {
		return y.Sharer.corruptThere(y.Conn.Remote, repo.ArchiveRef(p.issue), came.Tip, err)
	}
	moving := p.moving()
	if !a.Here.Whole() || !a.Theirs.Whole() {
		if a.Tip, a.There = a.Here.Tip, a.Theirs.Tip; len(moving.Commits) > 0 || a.Here.Tip != a.Theirs.Tip {
			return a.Here.ReadOnly()
		}
		return nil
	}
	shared, want := join.MergeArchives(p.want, a.Theirs.AsChain(), a.Here.AsChain(), moving.AsChain())
	if a.Tip, err = y.Sharer.PickArchive(p.writer, want, a.Theirs, a.Here, moving); err != nil {
		return err
	}
	if a.There, err = y.Sharer.PickArchive(p.writer, shared, a.Theirs, a.Here, moving); err != nil {
		return err
	}
	if n := a.Here.CountIn(p.want); n > 0 {
		p.remarks = append(p.remarks, fmt.Sprintf("issue %s: %d of its archive's checkpoints were in its chain too, and left the archive", p.issue, n))
	}
	p.countArchived(want)
	return nil
}

// moving returns checkpoints that move from a chain to the local archive.
func (p *issuePlan) moving() *chain.Chain {
	return chain.MovingTo(p.archive.Here, p.want.Ledger, p.live, p.own, p.theirs)
}

// countArchived adds the fetched and pushed checkpoints of archives to the result.
func (p *issuePlan) countArchived(want join.State) {
	a := p.archive
	if !a.Shared {
		return
	}
	here, there := a.Here.Index(), a.Theirs.Index()
	live, own, theirs := p.live.Index(), p.own.Index(), p.theirs.Index()
	for id := range want.Checkpoints {
		if here[id] == nil && live[id] == nil && own[id] == nil {
			p.done.Fetched++
		}
		if there[id] == nil && theirs[id] == nil {
			p.done.Pushed++
		}
	}
	switch {
	case p.done.Result != chain.UpToDate && p.done.Result != chain.Absent:
	case a.There != a.Theirs.Tip:
		p.done.Result = chain.Pushed
	case a.Tip != a.Here.Tip:
		p.done.Result = chain.Fetched
	}
}
