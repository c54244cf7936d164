package share

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// Fetch fetches the chains of issues from a remote. If the remote chain extends the local
// chain, the local ref moves to the remote tip. If both have diverged, the local chain
// stays, and the remote chain is available below refs/git-checkpoint/remote. The error
// reports that the remote did not answer; errors of single issues are in their Synced.
func (s *Sharer) Fetch(ctx context.Context, req Request) ([]chain.Synced, error) {
	y, err := s.start("fetch", req)
	if err != nil {
		return nil, err
	}
	if req.DryRun {
		return y.compareAll(ctx)
	}
	in, err := y.fetch(ctx)
	if err != nil {
		return nil, err
	}
	defer y.Conn.forget(ctx, in)
	names := &chain.Names{Chains: s.Chains}
	for some := range slices.Chunk(y.Open, maxIssuesPerTransaction) {
		y.adoptFetched(ctx, some, in, names)
		y.progress()
	}
	return y.results(), nil
}

// fetch fetches the chains of the issues, or all chains of the remote.
func (y *Syncing) fetch(ctx context.Context) (fetched, error) {
	in, ok, err := y.FetchWithoutListing(ctx, y.req.Issues)
	if y.Open = y.req.Issues; ok || err != nil {
		return in, err
	}
	y.Open, in, err = y.Conn.fetchListed(ctx, y.req.Issues)
	return in, err
}

// adoptFetched moves the local refs of issues to the fetched chains that extend them.
func (y *Syncing) adoptFetched(ctx context.Context, issues []checkpoint.Issue, in fetched, names *chain.Names) {
	for _, i := range issues {
		y.Done[i] = &chain.Synced{Issue: i}
	}
	u := y.Conn.newLocalUpdate(func(i checkpoint.Issue) (moves []refs.Move, err error) {
		*y.Done[i], moves, err = y.planFetch(ctx, i, in[i], names)
		return moves, err
	})
	u.restore = true
	for i, err := range u.run(ctx, issues) {
		if err != nil {
			y.Done[i].Result, y.Done[i].Err = chain.Failed, fmt.Errorf("fetch issue %s: %w", i, err)
		}
	}
}

// planFetch returns the result and the ref moves of a locked issue.
func (y *Syncing) planFetch(ctx context.Context, i checkpoint.Issue, came remote.FetchedRef, names *chain.Names) (done chain.Synced, moves []refs.Move, err error) {
	done.Issue = i
	s := y.Sharer
	if came.Err != nil {
		return done, nil, came.Err
	}
	if came.Tip.IsZero() {
		done.Result = chain.Absent
		return done, nil, nil
	}
	ours, err := s.chainHere(ctx, i)
	if err != nil {
		return done, nil, err
	}
	theirs, err := s.theirChain(y.Conn.Remote, i, came.Tip)
	if err != nil {
		return done, nil, err
	}
	switch chain.Relate(ours, theirs) {
	case chain.RelationSame:
		done.Result, moves = chain.UpToDate, restoreLiveRef(ours)
	case chain.RelationAhead:
		done.Result, moves = chain.Ahead, restoreLiveRef(ours)
	case chain.RelationBehind:
		done.Result, done.Fetched = chain.Fetched, theirs.CountMissingFrom(ours)
		moves, err = s.adopt(ctx, ours, theirs, names)
	default:
		done.Result, done.Err = chain.Diverged, y.divergence(i)
	}
	if err != nil {
		return done, nil, err
	}
	tracking, err := y.Conn.trackingMove(ctx, i, came.Tip)
	return done, append(moves, tracking...), err
}

// chainHere returns the local chain of an issue. If the ref does not exist, it returns
// the chain that this clone wrote last: a missing ref does not mean that the checkpoints
// were dropped.
func (s *Sharer) chainHere(ctx context.Context, i checkpoint.Issue) (*chain.Chain, error) {
	c, err := s.ReadChain(ctx, i, repo.LiveRef(i), 0)
	if err != nil || !c.Tip.IsZero() {
		return c, err
	}
	return s.ReadChain(ctx, i, repo.OwnRef(i), 0)
}

// theirChain reads a chain fetched from a remote, and fails for an invalid chain.
func (s *Sharer) theirChain(remote string, i checkpoint.Issue, tip plumbing.Hash) (*chain.Chain, error) {
	c, err := s.Walk(i, repo.LiveRef(i), tip, 0)
	if err == nil {
		err = c.CheckRoot()
	}
	if err == nil {
		err = c.Unread
	}
	if err != nil {
		return nil, s.corruptThere(remote, repo.LiveRef(i), tip, err)
	}
	c.Remote = remote
	return c, nil
}

// corruptThere returns the error of a damaged chain at a remote. The hint names a command
// that inspects the remote, since commands that verify local chains would not find the
// damage.
func (s *Sharer) corruptThere(remote, ref string, tip plumbing.Hash, err error) error {
	if !errors.As(err, new(*repo.CorruptError)) {
		return err
	}
	hint := chain.LookThere(remote, ref)
	if !s.Objects.Has(tip) { // the damage is in the local remote-tracking ref
		hint = "git checkpoint doctor --fix"
	}
	return &repo.CorruptError{Object: chain.ShownRemote(remote), Err: err, Hint: hint}
}

// adopt returns the moves that make the remote chain the local chain.
func (s *Sharer) adopt(ctx context.Context, ours, theirs *chain.Chain, known *chain.Names) ([]refs.Move, error) {
	live, err := s.ReadRef(ctx, repo.LiveRef(ours.Issue))
	if err != nil {
		return nil, err
	}
	if live.IsZero() {
		if err := known.Check(ctx, ours.Issue); err != nil {
			return nil, err
		}
	}
	here := *ours
	here.Tip = live
	return s.MovesTo(ctx, &here, theirs.Tip)
}

// restoreLiveRef returns the move that recreates a live ref from own/.
func restoreLiveRef(ours *chain.Chain) []refs.Move {
	if ours.Ref == repo.LiveRef(ours.Issue) || ours.Tip.IsZero() {
		return nil
	}
	return []refs.Move{{Name: repo.LiveRef(ours.Issue), New: ours.Tip}}
}

// divergence returns the error for chains that have diverged.
func (y *Syncing) divergence(i checkpoint.Issue) error {
	shown := chain.ShownRemote(y.Conn.Remote)
	return &chain.RemoteError{
		Op: y.Conn.Op, Remote: shown, Refused: true,
		Reason: fmt.Sprintf("issue %s has diverged: each side has checkpoints that the other lacks, and both are kept", i),
		Hint:   "git checkpoint sync " + repo.ShellQuote(string(i)) + " --remote " + repo.ShellQuote(shown),
	}
}

// compareAll returns the results that a fetch would have, based only on the tips.
func (y *Syncing) compareAll(ctx context.Context) ([]chain.Synced, error) {
	tips, issues, err := y.Conn.chains(ctx, y.req.Issues)
	done := make([]chain.Synced, len(issues))
	for k, i := range issues {
		done[k] = chain.Synced{Issue: i, Result: chain.Absent}
		if tips[i].IsZero() {
			continue
		}
		ours, err := y.Sharer.chainHere(ctx, i)
		switch {
		case err != nil:
			done[k].Result, done[k].Err = chain.Failed, fmt.Errorf("fetch issue %s: %w", i, err)
		case ours.Tip == tips[i]:
			done[k].Result = chain.UpToDate
		case ours.ContainsCommit(tips[i]):
			done[k].Result = chain.Ahead
		default:
			done[k].Result = "would be fetched"
		}
	}
	return done, err
}
