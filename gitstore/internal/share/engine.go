package share

import (
	"context"
	"errors"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Syncing is the state of one fetch, push or sync over all attempts. Each of them plans
// every issue from the local and the remote chain, transfers chains, and moves local refs.
// A fetch pushes nothing, and a push moves no local ref except remote-tracking refs.
type Syncing struct {
	Sharer *Sharer
	Conn   *conn
	req    Request
	tries  int
	Open   []checkpoint.Issue       // issues of the operation, nil if not known yet
	Here   map[string]plumbing.Hash // local refs, until a connection is made
	Done   map[checkpoint.Issue]*chain.Synced

	// Only a sync uses these.
	stale      map[checkpoint.Issue]staleTip
	late       map[checkpoint.Issue]bool         // another clone pushed before the last push
	pushedOnly map[checkpoint.Issue]chain.Synced // results of pushes with pending local moves
}

// A staleTip is a listed remote tip with the number of successive stale rejections.
type staleTip struct {
	tip   plumbing.Hash
	times int
}

// start begins a fetch, a push or a sync, without a connection yet.
func (s *Sharer) start(op string, req Request) (*Syncing, error) {
	l, err := s.Connect(op, req.Remote, req.Timeout, req.Quiet)
	if err != nil {
		return nil, err
	}
	return &Syncing{
		Sharer: s, Conn: l, req: req, Done: map[checkpoint.Issue]*chain.Synced{},
		stale: map[checkpoint.Issue]staleTip{}, late: map[checkpoint.Issue]bool{}, pushedOnly: map[checkpoint.Issue]chain.Synced{},
	}, nil
}

// results returns the results in the order of the issues.
func (y *Syncing) results() []chain.Synced {
	list := make([]chain.Synced, 0, len(y.Open))
	for _, i := range y.Open {
		if d := y.Done[i]; d != nil {
			list = append(list, *d)
		}
	}
	return list
}

// fail sets an issue's result to an error. If an earlier attempt moved remote refs, it
// wraps the error in a PushedError.
func (y *Syncing) fail(i checkpoint.Issue, err error) {
	_, pushed := y.pushedOnly[i]
	switch {
	case pushed && !repo.IsDone(err):
		err = &repo.PushedError{Issue: i, Remote: chain.ShownRemote(y.Conn.Remote), Err: err}
	case y.Conn.Op == "sync" && !errors.As(err, new(*chain.RemoteError)) && !errors.As(err, new(*blockedError)):
		err = fmt.Errorf("sync issue %s: %w", i, err)
	}
	y.Done[i] = &chain.Synced{Issue: i, Result: chain.Failed, Pushed: y.pushedOnly[i].Pushed, Retries: y.tries, Err: err}
}

// progress reports the number of finished issues.
func (y *Syncing) progress() {
	if y.req.Progress != nil {
		y.req.Progress(len(y.Done), len(y.Open))
	}
}

// Refs returns the local refs of issues. The result is cached until a connection is made,
// and then read again.
func (y *Syncing) Refs(ctx context.Context, issues []checkpoint.Issue) (here map[string]plumbing.Hash, err error) {
	if y.Here == nil {
		y.Here, err = y.Sharer.RefsHere(ctx, y.Conn.Remote, issues)
	}
	return y.Here, err
}

// FetchWithoutListing fetches the chain of a single issue without listing the remote's
// refs first, if the issue has no local refs or its remote ref just moved. If a listing is
// necessary, ok is false.
func (y *Syncing) FetchWithoutListing(ctx context.Context, issues []checkpoint.Issue) (in fetched, ok bool, err error) {
	if len(issues) != 1 {
		return nil, false, nil
	}
	i := issues[0]
	here, err := y.Refs(ctx, issues)
	known := y.Sharer.knows(y.Conn.Remote, i, here)
	if err != nil || !y.late[i] && known {
		return nil, false, err
	}
	delete(y.late, i)
	y.Here = nil
	return y.Conn.FetchChainWithoutListing(ctx, i, known)
}
