package gitstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/go-git/go-git/v5/plumbing"
)

// A PushRequest says what to push.
type PushRequest struct {
	Remote  string
	Issues  []checkpoint.Issue // none for all there are
	Timeout time.Duration      // of one connection, 0 for none
	Quiet   bool               // ask nobody for a password
	DryRun  bool               // say what would be done
}

// pushTries bounds how often a push follows a remote that moves.
const pushTries = 4

// Push makes the chains of issues those of a remote, where they have all that
// the remote's have. Each ref moves from the value that was seen there; one
// that has diverged is left alone. An error says that the remote did not
// answer; what went wrong with one issue is in its Synced.
func (s *Store) Push(ctx context.Context, req PushRequest) ([]Synced, error) {
	l, err := s.line("push", req.Remote, req.Timeout, req.Quiet)
	if err != nil {
		return nil, err
	}
	issues := req.Issues
	if len(issues) == 0 {
		if issues, _, err = s.Issues(ctx, false); err != nil {
			return nil, err
		}
	}
	done := make([]Synced, 0, len(issues))
	for _, i := range issues {
		synced, err := s.pushOne(ctx, l, i, req.DryRun)
		if err != nil {
			return done, err
		}
		done = append(done, synced)
	}
	return done, nil
}

// pushOne pushes one issue. Its error is one that the next issue would meet
// too.
func (s *Store) pushOne(ctx context.Context, l *line, i checkpoint.Issue, dryRun bool) (Synced, error) {
	done := Synced{Issue: i, Result: Failed}
	seen, err := s.readRef(ctx, s.trackingRef(l.remote, i))
	for try := 0; err == nil && try < pushTries; try++ {
		if try > 0 {
			if seen, err = s.lookAtRemote(ctx, l, i); err != nil {
				return done, err
			}
		}
		var again bool
		if again, err = s.tryPush(ctx, l, &done, seen, dryRun); !again {
			break
		}
		if try > 0 && done.Result == Diverged {
			return done, nil
		}
	}
	var remote *RemoteError
	switch {
	case errors.As(err, &remote) && !remote.Refused:
		return done, err
	case ctx.Err() != nil:
		return done, ctx.Err()
	case err != nil:
		done.Result, done.Err = Failed, err
	case done.Result == Failed:
		done.Err = &RemoteError{Op: "push", Remote: ShownRemote(l.remote), Reason: fmt.Sprintf("issue %s: %v", i, ErrMoved), Err: ErrMoved}
	}
	return done, nil
}

// tryPush pushes once, where the remote's ref is at seen. It asks for another
// try with what is there now.
func (s *Store) tryPush(ctx context.Context, l *line, done *Synced, seen plumbing.Hash, dryRun bool) (again bool, err error) {
	i := done.Issue
	ours, err := s.chainHere(ctx, i)
	if err != nil {
		return false, fmt.Errorf("push issue %s: %w", i, err)
	}
	if ours.tip.IsZero() {
		return false, &NoneError{Issue: i}
	}
	theirs, err := s.theirChain(i, seen)
	if err != nil {
		return false, fmt.Errorf("push issue %s: %w", i, err)
	}
	rel := relate(ours, theirs)
	switch rel {
	case behind:
		done.Result = Behind
		return false, nil
	case diverged:
		done.Result, done.Err = Diverged, s.divergence("push", l.remote, i)
		return true, nil
	}
	done.Result, done.Err = Failed, nil
	refused, err := l.give(ctx, dryRun, gift{LiveRef(i), ours.tip, seen})
	if err == nil {
		err = refused[LiveRef(i)]
	}
	if errors.Is(err, errStale) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	done.Result, done.Pushed = Pushed, ours.without(theirs)
	switch {
	case rel == same:
		done.Result = UpToDate
	case dryRun:
		done.Result = "would be pushed"
	}
	if dryRun || rel == same {
		return false, nil
	}
	return false, s.track(ctx, l, i, ours.tip)
}

// track notes what a remote has.
func (s *Store) track(ctx context.Context, l *line, i checkpoint.Issue, tip plumbing.Hash) error {
	name := s.trackingRef(l.remote, i)
	return s.retry(ctx, i, func() error {
		old, err := s.readRef(ctx, name)
		if err != nil || old == tip {
			return err
		}
		return s.moveRefs(ctx, l.op+": "+ShownRemote(l.remote), refMove{name, old, tip})
	})
}

// lookAtRemote brings a remote's chain here and returns its tip, zero for none.
func (s *Store) lookAtRemote(ctx context.Context, l *line, i checkpoint.Issue) (plumbing.Hash, error) {
	issues := []checkpoint.Issue{i}
	tips, _, err := l.chains(ctx, issues)
	if err != nil || tips[i].IsZero() {
		return plumbing.ZeroHash, err
	}
	here, err := s.refsHere(ctx, l.remote, issues)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	in, err := l.incoming(ctx, issues, tips, here)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer s.forgetIncoming(ctx, in)
	return in[i].tip, s.track(ctx, l, i, in[i].tip)
}
