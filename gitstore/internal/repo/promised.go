package repo

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

// Lacked wraps an error about an issue's object. If a partial clone is the cause, the
// result is a LackedError.
func Lacked(i checkpoint.Issue, object string, err error) error {
	if p, ok := errors.AsType[*PromisedError](err); ok {
		return &LackedError{i, object, p}
	}
	return fmt.Errorf("%s: %w", object, err)
}

// NotFetched returns the error of a git command that reads objects. In a partial clone
// this is a LackedError, because git stops at the first object that it cannot fetch.
func (s *Repo) NotFetched(i checkpoint.Issue, err error) error {
	if s.Opened == nil || !errors.As(err, new(*git.CommandError)) {
		return err
	}
	return &LackedError{i, LiveRef(i), errors.New(remote.Reason(err))}
}

// Timeouts for a fetch of one object, longer if the user may have to type a password.
const (
	promisedFor      = 30 * time.Second
	promisedForAsked = 2 * time.Minute
)

// LimitPromised configures the fetches of a partial clone. Git prompts for passwords only
// if o.Asks reports that a user can answer. Every git command of a partial clone may
// fetch. A fetch ends with the context of Open, since a reader of objects has no context.
func (s *Repo) LimitPromised(ctx context.Context, o Options) {
	s.Opened, s.PromisedFor = ctx, promisedForAsked
	if s.quiet = o.Asks == nil || !o.Asks(); s.quiet {
		s.PromisedFor = promisedFor
		s.Git = s.Git.With(remote.NoQuestions(s.Config)...)
	}
	s.Git = s.Git.With(remote.NoStall(s.Config)...)
}

// fetchPromised runs git for an object that a partial clone lacks.
func (s *Repo) fetchPromised(_ context.Context, stdin []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(s.Opened, s.PromisedFor)
	defer cancel()
	git := s.Git
	git.Apart = git.Apart || s.quiet // a hanging transport ends with git
	out, err := git.Pipe(ctx, stdin, args...)
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("not done within %s", s.PromisedFor)
	}
	return nil, errors.New(remote.Reason(err))
}
