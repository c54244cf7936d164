package gitstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// deleteRefs removes bookkeeping refs that are still where they were seen, in as
// few transactions as possible: there may be thousands, and each transaction is
// a git process that writes packed-refs anew. One that cannot go keeps no other
// from going; its error is the answer.
func (s *Store) deleteRefs(ctx context.Context, seen map[string]plumbing.Hash) error {
	names := make([]string, 0, len(seen))
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	return s.deleteSome(ctx, names, seen)
}

func (s *Store) deleteSome(ctx context.Context, names []string, seen map[string]plumbing.Hash) error {
	if len(names) == 0 {
		return nil
	}
	var in []byte
	for _, name := range names {
		in = fmt.Appendf(in, "delete %s\x00%s\x00", name, seen[name])
	}
	_, err := s.git.Pipe(ctx, in, "update-ref", "--no-deref", "--stdin", "-z")
	if err == nil || ctx.Err() != nil {
		return err
	}
	left, readErr := s.stillAt(ctx, names, seen)
	switch {
	case readErr != nil:
		return readErr
	case len(left) < len(names): // somebody else removes them, too
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

// stillAt are the refs that nobody has moved.
func (s *Store) stillAt(ctx context.Context, names []string, seen map[string]plumbing.Hash) ([]string, error) {
	s.refs.Hold()
	defer s.refs.Let()
	var left []string
	for _, name := range names {
		now, err := s.readRef(ctx, name)
		if err != nil {
			return nil, err
		}
		if now == seen[name] {
			left = append(left, name)
		}
	}
	return left, nil
}
