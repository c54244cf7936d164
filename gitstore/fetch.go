package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// A FetchRequest says what to fetch.
type FetchRequest struct {
	Remote  string
	Issues  []checkpoint.Issue // none for all that the remote has
	Timeout time.Duration      // of one connection, 0 for none
	Quiet   bool               // ask nobody for a password
	DryRun  bool               // only compare

	Progress func(done, total int)
}

// Fetch brings the chains of issues from a remote. A chain here that the
// remote's continues moves to it; one that has diverged stays, and the
// remote's is kept under refs/git-checkpoint/remote. An error says that the
// remote did not answer; what went wrong with one issue is in its Synced.
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

// chainHere is an issue's chain, the one that this clone wrote last where the
// ref is gone: that it is not there does not mean that it was dropped.
func (s *Store) chainHere(ctx context.Context, i checkpoint.Issue) (*chain, error) {
	c, err := s.readChain(ctx, i, LiveRef(i), 0)
	if err != nil || !c.tip.IsZero() {
		return c, err
	}
	return s.readChain(ctx, i, ownRef(i), 0)
}

// theirChain reads a chain that came from a remote, and refuses one that is
// none.
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

// checkRoot fails if a chain does not begin with the genesis commit of its issue.
func (c *chain) checkRoot() error {
	if c.rooted || c.cut {
		return nil
	}
	return corrupt(c.ref, "it is no chain of checkpoints")
}

// corruptThere says that the chain of a remote is damaged, which nothing that
// looks at those here would find.
func (s *Store) corruptThere(remote, ref string, tip plumbing.Hash, err error) error {
	if !errors.As(err, new(*CorruptError)) {
		return err
	}
	hint := lookThere(remote, ref)
	if !s.objects.Has(tip) { // what is known here of the remote is
		hint = "git checkpoint doctor --fix"
	}
	return &CorruptError{Object: ShownRemote(remote), Err: err, Hint: hint}
}

// adopt makes the remote's chain the one here.
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

// restoreLiveRef restores the ref of a chain that is known by own/ alone.
func (s *Store) restoreLiveRef(ctx context.Context, ours *chain) ([]refs.Move, error) {
	if ours.ref == LiveRef(ours.issue) || ours.tip.IsZero() {
		return nil, nil
	}
	return []refs.Move{{Name: LiveRef(ours.issue), New: ours.tip}}, nil
}

// divergence is the error of a chain that neither side's continues.
func (s *Store) divergence(op, remote string, i checkpoint.Issue) error {
	return &RemoteError{
		Op: op, Remote: ShownRemote(remote), Refused: true,
		Reason: fmt.Sprintf("issue %s has diverged: each side has checkpoints that the other lacks, and both are kept", i),
		Hint:   "git checkpoint sync " + shellQuote(string(i)) + " --remote " + shellQuote(ShownRemote(remote)),
	}
}

// compareAll says what a fetch would do, by the tips alone.
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
