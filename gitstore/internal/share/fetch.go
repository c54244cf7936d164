package share

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// A FetchRequest holds the parameters of a fetch.
type FetchRequest struct {
	Remote  string
	Issues  []checkpoint.Issue // empty for all issues of the remote
	Timeout time.Duration      // per connection; 0 for no timeout
	Quiet   bool               // do not prompt for a password
	DryRun  bool               // only compare

	Progress func(done, total int)
}

// Fetch fetches the chains of issues from a remote. If the remote chain extends the local
// chain, the local ref moves to the remote tip. If both have diverged, the local chain
// stays, and the remote chain is available below refs/git-checkpoint/remote. The error
// reports that the remote did not answer; errors of single issues are in their Synced.
func (s *Sharer) Fetch(ctx context.Context, req FetchRequest) ([]chain.Synced, error) {
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
	t := &localUpdate{s: s, conn: l, fetched: in, names: &chain.Names{Chains: s.Chains}}
	done := make([]chain.Synced, 0, len(issues))
	for some := range slices.Chunk(issues, maxIssuesPerTransaction) {
		done = append(done, t.updateAll(ctx, some)...)
		if req.Progress != nil {
			req.Progress(len(done), len(issues))
		}
	}
	return done, nil
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
func (s *Sharer) restoreLiveRef(ctx context.Context, ours *chain.Chain) ([]refs.Move, error) {
	if ours.Ref == repo.LiveRef(ours.Issue) || ours.Tip.IsZero() {
		return nil, nil
	}
	return []refs.Move{{Name: repo.LiveRef(ours.Issue), New: ours.Tip}}, nil
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
