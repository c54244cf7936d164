package gitstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/remote"
)

// A PromisedError reports an object that a partial clone lacks and that git could not
// fetch. Either no remote answers, or no remote has the object.
type PromisedError = odb.PromisedError

// A LackedError reports an object of an issue that a partial clone lacks and that git
// could not fetch. A sync may fetch the current chain of the remote.
type LackedError struct {
	Issue  checkpoint.Issue
	Object string // a ref or the id of a checkpoint
	Err    error
}

func (e *LackedError) Error() string { return fmt.Sprintf("%s: %v", e.Object, e.Err) }
func (e *LackedError) Unwrap() error { return e.Err }

// lacked wraps an error about an issue's object. If a partial clone is the cause, the
// result is a LackedError.
func lacked(i checkpoint.Issue, object string, err error) error {
	if p, ok := errors.AsType[*PromisedError](err); ok {
		return &LackedError{i, object, p}
	}
	return fmt.Errorf("%s: %w", object, err)
}

// notFetched returns the error of a git command that reads objects. In a partial clone
// this is a LackedError, because git stops at the first object that it cannot fetch.
func (s *Store) notFetched(i checkpoint.Issue, err error) error {
	if s.opened == nil || !errors.As(err, new(*git.CommandError)) {
		return err
	}
	return &LackedError{i, LiveRef(i), errors.New(remote.Reason(err))}
}

// Timeouts for a fetch of one object, longer if the user may have to type a password.
const (
	promisedFor      = 30 * time.Second
	promisedForAsked = 2 * time.Minute
)

// limitPromised configures the fetches of a partial clone. Git prompts for passwords only
// if o.Asks reports that a user can answer. Every git command of a partial clone may
// fetch. A fetch ends with the context of Open, since a reader of objects has no context.
func (s *Store) limitPromised(ctx context.Context, o repoOptions) {
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
	git.Apart = git.Apart || s.quiet // a hanging transport ends with git
	out, err := git.Pipe(ctx, stdin, args...)
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("not done within %s", s.promisedFor)
	}
	return nil, errors.New(remote.Reason(err))
}
