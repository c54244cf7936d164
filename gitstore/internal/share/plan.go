package share

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// An issuePlan is the plan of a push or a sync for one issue.
type issuePlan struct {
	issue   checkpoint.Issue
	live    *chain.Chain
	own     *chain.Chain // the chain at own/
	theirs  *chain.Chain
	tip     plumbing.Hash      // new tip of the local chain
	shared  plumbing.Hash      // new tip of the remote chain
	seen    bool               // only the remote-tracking ref moves here
	writer  *repo.ObjectWriter // contains the new objects
	want    join.State         // chain state at tip
	archive *chain.ArchivePlan // nil if a chain is shallow
	remarks []string           // messages about the merge
	doubles func() error       // notes the ids with several contents before the refs move, or nil
	done    chain.Synced
}

// update returns the remote chain's ref update, or nil without changes.
func (p *issuePlan) update() []remote.RefUpdate {
	if p.shared.IsZero() || p.shared == p.theirs.Tip {
		return nil
	}
	return []remote.RefUpdate{{Ref: repo.LiveRef(p.issue), Tip: p.shared, Seen: p.theirs.Tip}}
}

// updates returns the ref updates of the remote archive and of the remote chain.
func (p *issuePlan) updates() []remote.RefUpdate {
	return append(p.archive.Update(p.issue), p.update()...)
}

// planIssue reads an issue's chains and compares them, without writing. Concurrent changes of
// refs are detected when the refs move.
func (y *Syncing) planIssue(ctx context.Context, writer *repo.ObjectWriter, i checkpoint.Issue, a remote.FetchedRef) (p *issuePlan, err error) {
	if a.Err != nil {
		return nil, remote.Named("issue "+string(i), a.Err)
	}
	s := y.Sharer
	p = &issuePlan{issue: i, writer: writer, done: chain.Synced{Issue: i, Retries: y.Tries}}
	if p.live, err = s.chain.ReadChain(ctx, i, repo.LiveRef(i), 0); err != nil {
		return nil, err
	}
	if own, err := s.repo.ReadRef(ctx, repo.OwnRef(i)); err == nil && own == p.live.Tip {
		same := *p.live
		same.Ref = repo.OwnRef(i)
		p.own = &same
	} else if p.own, err = s.chain.ReadChain(ctx, i, repo.OwnRef(i), 0); err != nil {
		return nil, err
	}
	if p.theirs, err = s.theirChain(ctx, y.Conn.Remote, i, a.Tip); err != nil {
		return nil, err
	}
	if !y.joins() || p.live.Cut || p.own.Cut || p.theirs.Cut {
		err = y.planRelated(ctx, p)
	} else {
		err = y.planJoin(ctx, p)
	}
	if p.shared.IsZero() {
		p.shared = p.tip
	}
	p.seen = p.seen || y.Conn.Op == "push"
	if y.Conn.Op == "fetch" || y.Conn.Bundle { // the remote stays as it is
		if p.shared, p.done.Pushed = p.theirs.Tip, 0; p.done.Result == chain.Pushed {
			p.done.Result = chain.Ahead
		}
	}
	return p, err
}

// planJoin plans the merge of complete chains.
func (y *Syncing) planJoin(ctx context.Context, p *issuePlan) error {
	live, own := p.live.Loose(p.theirs), p.own.Loose(p.theirs)
	tip, want, rebuilt, err := y.Sharer.chain.MergeChains(p.writer, p.theirs, live, own)
	if err != nil {
		return err
	}
	joins := y.joins() // a fetch only leaves out what the ledger of the remote has removed
	if rebuilt && joins {
		tip, p.remarks = y.Sharer.chain.MergeWork(ctx, p.writer, tip, want, p.theirs, live, own)
	}
	if err := y.readArchive(ctx, p); err != nil {
		return err
	}
	p.tip, p.want = tip, want
	p.done.Facts = want.Ledger.CountMissing(p.theirs.Ledger, p.live.Ledger)
	inLive, inOwn, inTheirs := p.live.Members(), p.own.Members(), p.theirs.Members()
	for m := range want.Members {
		if !inLive[m] && !inOwn[m] {
			p.done.Fetched++
		}
		if !inTheirs[m] {
			p.done.Pushed++
		}
	}
	p.noteDoubles(y.Sharer.chain.Doubles(want, p.own, p.live))
	if p.name(rebuilt && tip != p.live.Tip); rebuilt && !joins {
		p.done.Result, p.done.Joined = chain.Fetched, false
	}
	return nil
}

// noteDoubles adds the result of chain.Doubles to the plan.
func (p *issuePlan) noteDoubles(warnings []string, note func() error) {
	p.doubles, p.remarks = note, append(p.remarks, warnings...)
}

// planRelated plans a fetch, a push, and a sync with a shallow chain: one chain must extend or
// contain the other. Commits below a shallow boundary cannot be rewritten. So in a sync the remote
// chain may also be complete, or both may have a common commit.
func (y *Syncing) planRelated(ctx context.Context, p *issuePlan) error {
	s, op, ours := y.Sharer.chain, y.Conn.Op, p.live
	if ours.Tip.IsZero() { // a missing ref does not mean that the checkpoints were dropped
		ours = p.own
	}
	p.tip = ours.Tip
	p.done.Facts = ours.Ledger.CountMissing(p.theirs.Ledger)
	related := s.Relate(ours, p.theirs)
	if op == "push" && related == chain.RelationAhead && y.Sharer.repo.Opened != nil && !ours.CarriesLedger(p.theirs) {
		related = chain.RelationDiverged
	}
	switch {
	case op == "push" && ours.Tip.IsZero():
		return &repo.NoneError{Issue: p.issue}
	case related == chain.RelationSame || related == chain.RelationAhead:
		p.done.Pushed, p.seen = ours.CountMissingFrom(p.theirs), op == "fetch" && !p.live.Tip.IsZero()
		switch p.name(false); {
		case op == "fetch" && p.theirs.Tip.IsZero():
			p.tip, p.seen, p.done.Result = p.live.Tip, true, chain.Absent
		case op == "push" && related == chain.RelationAhead:
			// A push publishes archivals too.
			if p.want = join.MergeStates(ours.AsChain().State); ours.Whole() && p.theirs.Whole() && p.publishes() {
				return y.readArchive(ctx, p)
			}
		case op != "sync" && !p.tip.IsZero() && (related == chain.RelationSame || s.Equal(ours, p.theirs)):
			p.done.Result = chain.UpToDate
		}
		return nil
	case related == chain.RelationDiverged && !y.joins():
		shown, hint := chain.ShownRemote(y.Conn.Remote), "git checkpoint sync "+failure.IssueArg(string(p.issue))
		names, _ := s.Remotes(ctx, p.issue)
		if n := slices.Index(names, y.Conn.Remote); n < 1 || op == "push" { // otherwise a sync fetches from it, and pushes to the first
			hint += " --remote " + failure.QuoteStrict(shown)
			if n < 0 && op == "fetch" && !remote.IsBundle(y.Sharer.repo.Info.Root, remote.DestinationOf(ctx, y.Sharer.repo, y.Conn.Remote).URL) {
				hint += " # also pushes to " + shown
			}
		}
		p.seen, p.shared, p.done.Result = true, p.theirs.Tip, chain.Diverged
		p.done.Err = &remote.Error{
			Op: op, Remote: shown, Refused: true,
			Reason: fmt.Sprintf("issue %s has diverged: each side has checkpoints that the other lacks, and both are kept", p.issue),
			Hint:   hint,
		}
		return nil
	case op == "push":
		p.shared, p.done.Result = p.theirs.Tip, chain.Behind
		return nil
	case op == "fetch" && ours.Whole() && p.theirs.Whole():
		return y.planJoin(ctx, p)
	case related == chain.RelationBehind:
		p.tip, p.done.Fetched = p.theirs.Tip, p.theirs.CountMissingFrom(ours)
		p.done.Facts = p.theirs.Ledger.CountMissing(ours.Ledger)
	case p.theirs.Whole():
		return y.planJoin(ctx, p)
	default:
		return y.planSplice(ctx, p, ours)
	}
	p.name(false)
	if err := s.Identify(p.theirs, p.own, p.live); err != nil {
		return err
	}
	p.noteDoubles(s.Doubles(p.theirs.AsChain().State, p.own, p.live))
	return nil
}

// readArchive adds the local archive to the plan.
func (y *Syncing) readArchive(ctx context.Context, p *issuePlan) error {
	here, err := y.Sharer.chain.ReadChain(ctx, p.issue, repo.ArchiveRef(p.issue), 0)
	if err == nil {
		p.archive = &chain.ArchivePlan{Here: here, Theirs: y.Sharer.chain.NoChain(here)}
	}
	return err
}

// planSplice plans the merge of shallow chains that have a common commit.
func (y *Syncing) planSplice(ctx context.Context, p *issuePlan, ours *chain.Chain) error {
	tip, want, ok := y.Sharer.chain.Splice(p.writer, p.theirs, ours)
	if !ok || p.own.Tip != ours.Tip && !p.own.Tip.IsZero() && !ours.ContainsCommit(p.own.Tip) {
		return &repo.RefusedError{
			Reason: "each side has checkpoints that the other lacks, and history is cut here: chains cannot be joined",
			Hint:   "git fetch --unshallow " + failure.QuoteStrict(chain.ShownRemote(y.Conn.Remote)),
		}
	}
	if p.tip, p.want = tip, want; tip != p.theirs.Tip {
		p.tip, p.remarks = y.Sharer.chain.MergeWork(ctx, p.writer, tip, want, p.theirs, ours)
	}
	p.done.Fetched, p.done.Pushed = p.theirs.CountMissingFrom(ours), ours.CountMissingFrom(p.theirs)
	p.done.Facts = want.Ledger.CountMissing(p.theirs.Ledger, ours.Ledger)
	p.noteDoubles(y.Sharer.chain.Doubles(want, p.own, p.live))
	p.name(p.tip != p.theirs.Tip)
	return nil
}

// name sets the result of the issue.
func (p *issuePlan) name(rebuilt bool) {
	switch {
	case p.tip.IsZero():
		p.done.Result = chain.Absent
	case rebuilt:
		p.done.Result, p.done.Joined = chain.Joined, true
	case p.tip != p.theirs.Tip:
		p.done.Result = chain.Pushed
	case p.tip != p.live.Tip:
		p.done.Result = chain.Fetched
	default:
		p.done.Result = chain.UpToDate
	}
}

// theirArchives fetches the remote archives of issues whose local archive will be pushed.
func (y *Syncing) theirArchives(ctx context.Context, t *Theirs, plans []*issuePlan) error {
	var refs []string
	for _, p := range plans {
		if p.archive == nil || y.Conn.Op == "fetch" || !y.req.Archived && !p.publishes() {
			continue
		}
		p.archive.Shared = !y.Conn.Bundle
		switch tip := t.tips[repo.ArchiveRef(p.issue)]; {
		case tip.IsZero():
		case tip == p.archive.Here.Tip:
			t.came[repo.ArchiveRef(p.issue)] = remote.FetchedRef{Tip: tip}
		default:
			refs = append(refs, repo.ArchiveRef(p.issue))
		}
	}
	came, err := y.Conn.Fetch(ctx, nil, refs, 0)
	maps.Copy(t.came, came)
	return err
}

// publishes reports whether a sync changes the archived checkpoints at the remote: the
// pushed ledger has new archivals, or deletes an archived checkpoint, or the pushed chain
// lacks archived checkpoints that a shallow clone left in the chain.
func (p *issuePlan) publishes() bool {
	for i := range p.theirs.Commits {
		if l := &p.theirs.Commits[i]; p.want.Ledger.Files(l.ID, l.Content) {
			return true
		}
	}
	for _, id := range p.want.Ledger.IDs(ledger.Archived) {
		if !p.theirs.Ledger.IsArchived(id) {
			return true
		}
	}
	for _, id := range p.theirs.Ledger.IDs(ledger.Archived) {
		if p.want.Ledger.HasDeleted(id) {
			return true
		}
	}
	return false
}

// planArchive merges the local archive, the remote archive, and the checkpoints that move
// to the archive.
func (y *Syncing) planArchive(ctx context.Context, p *issuePlan, came remote.FetchedRef) (err error) {
	if came.Err != nil {
		return remote.Named("issue "+string(p.issue), came.Err)
	}
	a := p.archive
	if a.Theirs, err = y.Sharer.chain.Walk(p.issue, repo.ArchiveRef(p.issue), came.Tip, 0); err != nil {
		return err
	}
	if err := a.Theirs.CheckRoot(); err != nil {
		return y.Sharer.corruptThere(ctx, y.Conn.Remote, repo.ArchiveRef(p.issue), came.Tip, a.Theirs, err)
	}
	want, err := y.Sharer.chain.JoinArchives(p.writer, a, p.want, p.live, p.own, p.theirs)
	if err != nil {
		return err
	}
	p.countArchived(want)
	return nil
}

// countArchived adds the fetched and pushed checkpoints of archives to the result.
func (p *issuePlan) countArchived(want join.State) {
	a := p.archive
	if !a.Shared && a.Theirs.Tip.IsZero() {
		return
	}
	here, there := a.Here.Members(), a.Theirs.Members()
	live, own, theirs := p.live.Members(), p.own.Members(), p.theirs.Members()
	for m := range want.Members {
		if !here[m] && !live[m] && !own[m] {
			p.done.Fetched++
		}
		if !there[m] && !theirs[m] {
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
