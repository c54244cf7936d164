package gitstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/gitcmd"
	"git-checkpoint/gitstore/objects"
	"git-checkpoint/gitstore/remote"
)

// A PromisedError reports an object that a partial clone lacks and that git
// could not fetch: no remote answers, or none has it any more.
type PromisedError = objects.PromisedError

// A LackedError reports something of an issue that a partial clone lacks and
// that git could not fetch. A sync may bring the remote's chain as it is now.
type LackedError struct {
	Issue  checkpoint.Issue
	Object string // a ref or the id of a checkpoint
	Err    error
}

func (e *LackedError) Error() string { return fmt.Sprintf("%s: %v", e.Object, e.Err) }
func (e *LackedError) Unwrap() error { return e.Err }

// lacked returns err about an object of an issue, as a LackedError if a partial
// clone is the cause.
func lacked(i checkpoint.Issue, object string, err error) error {
	if p, ok := errors.AsType[*PromisedError](err); ok {
		return &LackedError{i, object, p}
	}
	return fmt.Errorf("%s: %w", object, err)
}

// notFetched returns the error of a git command that reads objects, as a
// LackedError in a partial clone: git stops at the first one that it cannot
// fetch.
func (s *Store) notFetched(i checkpoint.Issue, err error) error {
	if s.opened == nil || !errors.As(err, new(*gitcmd.CommandError)) {
		return err
	}
	return &LackedError{i, LiveRef(i), errors.New(remote.Reason(err))}
}

// How long git may take to fetch one object: longer if somebody has to type a
// password.
const (
	promisedFor      = 30 * time.Second
	promisedForAsked = 2 * time.Minute
)

// limitPromised makes git ask for a password only if somebody can answer.
// Every git command of a partial clone may fetch. A fetch ends with ctx, that of
// Open: a reader of objects has no context.
func (s *Store) limitPromised(ctx context.Context, o Options) {
	s.opened, s.promisedFor = ctx, promisedForAsked
	if s.quiet = o.Asks == nil || !o.Asks(); s.quiet {
		s.promisedFor = promisedFor
		s.git = s.git.With(remote.NoQuestions(s.config)...)
	}
	s.git = s.git.With(remote.NoStall(s.config)...)
}

// fetchPromised runs git for an object that a partial clone lacks.
func (s *Store) fetchPromised(_ context.Context, stdin []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(s.opened, s.promisedFor)
	defer cancel()
	git := s.git
	git.Apart = git.Apart || s.quiet // a transport that hangs ends with git
	out, err := git.Pipe(ctx, stdin, args...)
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("not done within %s", s.promisedFor)
	}
	return nil, errors.New(remote.Reason(err))
}
