package share

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxIssuesPerTransaction limits issues per transaction, because each issue needs an open
// lock file.
const maxIssuesPerTransaction = 100

// A localUpdate moves local refs of issues.
type localUpdate struct {
	s       *Sharer
	message string             // for the reflogs
	writer  *repo.ObjectWriter // contains the new objects

	// moves returns the moves of a locked issue.
	moves func(checkpoint.Issue) ([]refs.Move, error)
	// alone runs a function with a single issue locked: WithIssueLock or Retry.
	alone func(ctx context.Context, i checkpoint.Issue, f func() error) error
	// restore is set if a transaction of several issues first restores checkpoints that
	// plain git removed. Retry does this for a single issue.
	restore bool
}

// newLocalUpdate returns a localUpdate that retries a single issue if its refs move
// concurrently.
func (l *conn) newLocalUpdate(moves func(checkpoint.Issue) ([]refs.Move, error)) *localUpdate {
	return &localUpdate{
		s: l.s, message: l.Op + ": " + chain.ShownRemote(l.Remote), writer: l.s.NewObjectWriter(),
		moves: moves, alone: l.s.Retry,
	}
}

// run moves the refs of issues in one transaction. Then it moves the refs of each failed
// issue in a separate transaction, since an error may concern only one issue.
func (u *localUpdate) run(ctx context.Context, issues []checkpoint.Issue) errorsByIssue {
	errs := errorsByIssue{}
	if len(issues) > 1 {
		err := u.s.WithIssueLocks(ctx, issues, func() error { return u.move(ctx, issues, errs) })
		for _, i := range issues {
			errs[i] = cmp.Or(errs[i], err)
		}
	}
	for _, i := range issues {
		if len(issues) > 1 && (errs[i] == nil || repo.IsDone(errs[i])) { // the refs have moved
			continue
		}
		errs[i] = u.alone(ctx, i, func() error {
			alone := errorsByIssue{}
			err := u.move(ctx, []checkpoint.Issue{i}, alone)
			return cmp.Or(alone[i], err)
		})
	}
	return errs
}

// move moves the refs of locked issues in one transaction. It leaves out issues whose
// moves are unknown, and adds their errors to errs.
func (u *localUpdate) move(ctx context.Context, issues []checkpoint.Issue, errs errorsByIssue) error {
	u.s.Refs.Hold()
	defer u.s.Refs.Let()
	var list []refs.Move
	for _, i := range issues {
		moves, err := u.movesOf(ctx, i, len(issues) > 1)
		if err != nil {
			errs[i] = err
			continue
		}
		list = append(list, moves...)
	}
	if len(list) == 0 {
		return nil
	}
	if err := u.s.PublishMany(ctx, u.writer, u.message, list); err != nil {
		return err
	}
	if err := u.writer.Protect(ctx); err != nil {
		return err
	}
	u.s.forgetTracked(ctx, list)
	return nil
}

func (u *localUpdate) movesOf(ctx context.Context, i checkpoint.Issue, together bool) ([]refs.Move, error) {
	if together && u.restore {
		if err := u.s.RestoreOwnChain(ctx, i); err != nil {
			return nil, err
		}
	}
	return u.moves(i)
}

// track sets the remote-tracking refs of issues to tips.
func (l *conn) track(ctx context.Context, tips map[checkpoint.Issue]plumbing.Hash) error {
	u := l.newLocalUpdate(func(i checkpoint.Issue) ([]refs.Move, error) { return l.trackingMove(ctx, i, tips[i]) })
	for some := range slices.Chunk(slices.Sorted(maps.Keys(tips)), maxIssuesPerTransaction) {
		errs := u.run(ctx, some)
		for _, i := range some {
			if errs[i] != nil {
				return errs[i]
			}
		}
	}
	return nil
}

// trackingMove returns the move of an issue's remote-tracking ref to tip, or nil if it
// has this value.
func (l *conn) trackingMove(ctx context.Context, i checkpoint.Issue, tip plumbing.Hash) ([]refs.Move, error) {
	name := l.s.TrackingRef(l.Remote, i)
	old, err := l.s.ReadRef(ctx, name)
	if err != nil || old == tip {
		return nil, err
	}
	return []refs.Move{{Name: name, Old: old, New: tip}}, nil
}
