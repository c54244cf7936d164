package gitstore

import (
	"context"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
)

// Pin sets or removes a checkpoint's pin, and reports any change. Retention never drops a
// pinned checkpoint, live or archived.
func (s *Store) Pin(ctx context.Context, issue checkpoint.Issue, id checkpoint.ID, on bool) (bool, error) {
	verb := "unpin"
	if on {
		verb = "pin"
	}
	changed := false
	err := s.alter(ctx, issue, func(c *chain, _ *objectWriter) (*change, error) {
		changed = false
		if c.find(id) == nil && !c.ledger.IsArchived(id) {
			return nil, &NotFoundError{Issue: issue, Name: string(id)}
		}
		if c.ledger.Pinned(id) == on {
			return nil, nil
		}
		changed = true
		return &change{
			verb: verb, ids: []checkpoint.ID{id},
			ledger: func(l *ledger.Ledger) { l.SetPin(id, on, s.now()) },
		}, nil
	})
	if err != nil {
		return false, fmt.Errorf("%s %s: %w", verb, id, err)
	}
	return changed, nil
}
