package share

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// Fetch fetches the chains of issues from a remote. If the remote chain extends the local
// chain, the local ref moves to the remote tip. If both have diverged, the local chain
// stays, and the remote chain is available below refs/git-checkpoint/remote. The error
// reports that the remote did not answer; errors of single issues are in their Synced.
func (s *Sharer) Fetch(ctx context.Context, req Request) ([]chain.Synced, error) {
	l, err := s.Connect("fetch", req.Remote, req.Timeout, req.Quiet)
	if err != nil {
		return nil, err
	}
	if req.DryRun {
		tips, issues, err := l.chains(ctx, req.Issues)
		return s.compareAll(ctx, l, issues, tips), err
	}
	issues, in, err := l.fetch(ctx, req.Issues)
	if err != nil {
		return nil, err
	}
	defer l.forget(ctx, in)
	f := &fetching{s: s, conn: l, fetched: in, names: &chain.Names{Chains: s.Chains}}
	done := make([]chain.Synced, 0, len(issues))
	for some := range slices.Chunk(issues, maxIssuesPerTransaction) {
		done = append(done, f.updateLocalRefs(ctx, some)...)
		if req.Progress != nil {
			req.Progress(len(done), len(issues))
		}
	}
	return done, nil
}

// A fetching is the state of one Fetch after the transfer.
type fetching struct {
	s       *Sharer
	conn    *conn
	fetched fetched
	names   *chain.Names
}

// updateLocalRefs moves the local refs of issues, and returns their results.
func (f *fetching) updateLocalRefs(ctx context.Context, issues []checkpoint.Issue) []chain.Synced {
	done := make(map[checkpoint.Issue]chain.Synced, len(issues))
	u := f.conn.newLocalUpdate(func(i checkpoint.Issue) (moves []refs.Move, err error) {
		done[i], moves, err = f.plan(ctx, i)
		return moves, err
	})
	u.restore = true
	errs := u.run(ctx, issues)
	list := make([]chain.Synced, len(issues))
	for n, i := range issues {
		list[n] = done[i]
		if errs[i] != nil {
			list[n].Issue, list[n].Result, list[n].Err = i, chain.Failed, fmt.Errorf("fetch issue %s: %w", i, errs[i])
		}
	}
	return list
}

// plan returns the result and the ref moves of a locked issue.
func (f *fetching) plan(ctx context.Context, i checkpoint.Issue) (done chain.Synced, moves []refs.Move, err error) {
	done.Issue = i
	s, came := f.s, f.fetched[i]
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
	theirs, err := s.theirChain(f.conn.Remote, i, came.Tip)
	if err != nil {
		return done, nil, err
	}
	switch chain.Relate(ours, theirs) {
	case chain.RelationSame:
		done.Result, moves = chain.UpToDate, restoreLiveRef(ours)
	case chain.RelationAhead:
		done.Result, moves = chain.Ahead, restoreLiveRef(ours)
	case chain.RelationBehind:
		done.Result, done.Fetched = chain.Fetched, theirs.Without(ours)
		moves, err = s.adopt(ctx, ours, theirs, f.names)
	default:
		done.Result, done.Err = chain.Diverged, s.divergence("fetch", f.conn.Remote, i)
	}
	if err != nil {
		return done, nil, err
	}
	tracking, err := f.conn.trackingMove(ctx, i, came.Tip)
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
func (s *Sharer) divergence(op, remote string, i checkpoint.Issue) error {
	return &chain.RemoteError{
		Op: op, Remote: chain.ShownRemote(remote), Refused: true,
		Reason: fmt.Sprintf("issue %s has diverged: each side has checkpoints that the other lacks, and both are kept", i),
		Hint:   "git checkpoint sync " + repo.ShellQuote(string(i)) + " --remote " + repo.ShellQuote(chain.ShownRemote(remote)),
	}
}

// compareAll returns the results that a fetch would have, based only on the tips.
func (s *Sharer) compareAll(ctx context.Context, l *conn, issues []checkpoint.Issue, tips map[checkpoint.Issue]plumbing.Hash) []chain.Synced {
	done := make([]chain.Synced, len(issues))
	for k, i := range issues {
		done[k] = chain.Synced{Issue: i, Result: chain.Absent}
		if tips[i].IsZero() {
			continue
		}
		ours, err := s.chainHere(ctx, i)
		switch {
		case err != nil:
			done[k].Result, done[k].Err = chain.Failed, fmt.Errorf("%s issue %s: %w", l.Op, i, err)
		case ours.Tip == tips[i]:
			done[k].Result = chain.UpToDate
		case ours.Stands(tips[i]):
			done[k].Result = chain.Ahead
		default:
			done[k].Result = "would be fetched"
		}
	}
	return done
}
