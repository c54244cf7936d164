package gitstore

import (
	"context"
	"errors"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
)

// bringBackOwn restores what plain git took from an issue's chain, by a forced
// fetch, a reset or a deletion of its ref: what this clone wrote last is joined
// with what is there now. A chain that only went on is left as it is, and so is
// one that cannot be read or is cut: whoever asked for it says so. It fails
// with errLost alone.
func (s *Store) bringBackOwn(ctx context.Context, i checkpoint.Issue) error {
	live, err := s.readRef(ctx, LiveRef(i))
	if err != nil {
		return nil
	}
	own, err := s.readRef(ctx, ownRef(i))
	if err != nil || own == live || own.IsZero() {
		return nil
	}
	now, err := s.walk(i, LiveRef(i), live, 0)
	if err != nil || now.stands(own) {
		return nil
	}
	last, err := s.walk(i, ownRef(i), own, 0)
	if err != nil || !now.whole() || !last.whole() {
		return nil
	}
	back, err := s.putBack(ctx, now, last)
	switch {
	case errors.Is(err, errLost):
		return err
	case err != nil:
		s.tell("issue %s: %s was changed by other means, and what this clone had saved there can't be brought back: %v", i, LiveRef(i), err)
	case back:
		s.tell("issue %s: %s was changed by other means; what this clone had saved there is back", i, LiveRef(i))
	}
	return nil
}

// putBack makes now, the issue's chain, say what last does too.
func (s *Store) putBack(ctx context.Context, now, last *chain) (bool, error) {
	k := s.newSink()
	tip, _, _, err := s.merged(k, now, last)
	if err != nil || tip == now.tip {
		return false, err
	}
	moves := func() ([]refMove, error) { return s.movesTo(ctx, now, tip) }
	if err := s.publish(ctx, k, "repair: what other means had taken", moves); err != nil {
		return false, err
	}
	return true, k.protect(ctx)
}

// whole reports whether a chain was read down to its beginning.
func (c *chain) whole() bool { return c.rooted && !c.cut }

// tell gives whoever opened the store a line about what it did unasked.
func (s *Store) tell(format string, args ...any) {
	if s.notify != nil {
		s.notify(fmt.Sprintf(format, args...))
	}
}
