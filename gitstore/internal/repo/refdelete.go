package repo

import (
	"context"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// DeleteRefs deletes bookkeeping refs that still equal their seen values. It uses as few
// transactions as possible: there may be thousands of refs, and each transaction is a git
// process that rewrites packed-refs. If a ref cannot be deleted, the others still are,
// and the error is returned.
func (s *Repo) DeleteRefs(ctx context.Context, seen map[string]plumbing.Hash) error {
	names := make([]string, 0, len(seen))
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	if s.IssueLock != nil {
		return s.deleteSome(ctx, names, seen)
	}
	return s.WithNamedLocks(ctx, []string{refs.Bookkeeping}, func() error { return s.deleteSome(ctx, names, seen) })
}

func (s *Repo) deleteSome(ctx context.Context, names []string, seen map[string]plumbing.Hash) error {
	if len(names) == 0 {
		return nil
	}
	var in []byte
	var moves []refs.Move
	for _, name := range names {
		in = fmt.Appendf(in, "delete %s\x00%s\x00", name, seen[name])
		moves = append(moves, refs.Move{Name: name, Old: seen[name]})
	}
	err := s.Noted("delete", moves, func(g git.Git) error {
		_, err := g.Pipe(ctx, in, "update-ref", "--no-deref", "--stdin", "-z")
		return err
	})
	if err == nil || ctx.Err() != nil {
		return err
	}
	left, readErr := s.stillAt(ctx, names, seen)
	switch {
	case readErr != nil:
		return readErr
	case len(left) < len(names): // another process deletes refs, too
		return s.deleteSome(ctx, left, seen)
	case len(left) == 1:
		return fmt.Errorf("remove %s: %w", left[0], err)
	}
	half := len(left) / 2
	first := s.deleteSome(ctx, left[:half], seen)
	if err := s.deleteSome(ctx, left[half:], seen); err != nil {
		return err
	}
	return first
}

// Noted runs work, a git that locks refs, under a note in the issue lock. If this git is
// killed, its stale locks can be removed.
func (s *Repo) Noted(message string, moves []refs.Move, work func(git.Git) error) error {
	g := s.Git
	g.Apart, g.Hold = true, s.IssueLock.Locks()
	s.IssueLock.Begin(message, moves)
	defer s.IssueLock.Done()
	err := work(g)
	if err != nil {
		s.IssueLock.Failed(err)
	}
	return err
}

// stillAt returns the refs that still have their seen values.
func (s *Repo) stillAt(ctx context.Context, names []string, seen map[string]plumbing.Hash) ([]string, error) {
	s.Refs.Hold()
	defer s.Refs.Let()
	var left []string
	for _, name := range names {
		now, err := s.ReadRef(ctx, name)
		if err != nil {
			return nil, err
		}
		if now == seen[name] {
			left = append(left, name)
		}
	}
	return left, nil
}
