package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/refs"

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
func (s *Store) Fetch(ctx context.Context, req FetchRequest) ([]Synced, error) {
	l, err := s.connect("fetch", req.Remote, req.Timeout, req.Quiet)
	if err != nil {
		return nil, err
	}
	s.clearBefore(ctx, req.DryRun)
	if req.DryRun {
		tips, issues, err := l.chains(ctx, req.Issues)
		return s.compareAll(ctx, l, issues, tips), err
	}
	issues, in, err := l.fetch(ctx, req.Issues)
	if err != nil {
		return nil, err
	}
	defer l.forget(ctx, in)
	t := &localUpdate{s: s, conn: l, fetched: in, names: &names{s: s}}
	done := make([]Synced, 0, len(issues))
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
func (s *Store) chainHere(ctx context.Context, i checkpoint.Issue) (*chain, error) {
	c, err := s.readChain(ctx, i, LiveRef(i), 0)
	if err != nil || !c.tip.IsZero() {
		return c, err
	}
	return s.readChain(ctx, i, ownRef(i), 0)
}

// theirChain reads a chain fetched from a remote, and fails for an invalid chain.
func (s *Store) theirChain(remote string, i checkpoint.Issue, tip plumbing.Hash) (*chain, error) {
	c, err := s.walk(i, LiveRef(i), tip, 0)
	if err == nil {
		err = c.checkRoot()
	}
	if err == nil {
		err = c.unread
	}
	if err != nil {
		return nil, s.corruptThere(remote, LiveRef(i), tip, err)
	}
	c.remote = remote
	return c, nil
}

// corruptThere returns the error of a damaged chain at a remote. The hint names a command
// that inspects the remote, since commands that verify local chains would not find the
// damage.
func (s *Store) corruptThere(remote, ref string, tip plumbing.Hash, err error) error {
	if !errors.As(err, new(*CorruptError)) {
		return err
	}
	hint := lookThere(remote, ref)
	if !s.objects.Has(tip) { // the damage is in the local remote-tracking ref
		hint = "git checkpoint doctor --fix"
	}
	return &CorruptError{Object: ShownRemote(remote), Err: err, Hint: hint}
}

// adopt returns the moves that make the remote chain the local chain.
func (s *Store) adopt(ctx context.Context, ours, theirs *chain, known *names) ([]refs.Move, error) {
	live, err := s.readRef(ctx, LiveRef(ours.issue))
	if err != nil {
		return nil, err
	}
	if live.IsZero() {
		if err := known.check(ctx, ours.issue); err != nil {
			return nil, err
		}
	}
	here := *ours
	here.tip = live
	return s.movesTo(ctx, &here, theirs.tip)
}

// restoreLiveRef returns the move that recreates a live ref from own/.
func (s *Store) restoreLiveRef(ctx context.Context, ours *chain) ([]refs.Move, error) {
	if ours.ref == LiveRef(ours.issue) || ours.tip.IsZero() {
		return nil, nil
	}
	return []refs.Move{{Name: LiveRef(ours.issue), New: ours.tip}}, nil
}

// divergence returns the error for chains that have diverged.
func (s *Store) divergence(op, remote string, i checkpoint.Issue) error {
	return &RemoteError{
		Op: op, Remote: ShownRemote(remote), Refused: true,
		Reason: fmt.Sprintf("issue %s has diverged: each side has checkpoints that the other lacks, and both are kept", i),
		Hint:   "git checkpoint sync " + shellQuote(string(i)) + " --remote " + shellQuote(ShownRemote(remote)),
	}
}

// compareAll returns the results that a fetch would have, based only on the tips.
func (s *Store) compareAll(ctx context.Context, l *conn, issues []checkpoint.Issue, tips map[checkpoint.Issue]plumbing.Hash) []Synced {
	done := make([]Synced, len(issues))
	for k, i := range issues {
		done[k] = Synced{Issue: i, Result: Absent}
		if tips[i].IsZero() {
			continue
		}
		ours, err := s.chainHere(ctx, i)
		switch {
		case err != nil:
			done[k].Result, done[k].Err = Failed, fmt.Errorf("%s issue %s: %w", l.Op, i, err)
		case ours.tip == tips[i]:
			done[k].Result = UpToDate
		case ours.stands(tips[i]):
			done[k].Result = Ahead
		default:
			done[k].Result = "would be fetched"
		}
	}
	return done
}
