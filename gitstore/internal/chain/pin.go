package chain

import (
	"context"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/repo"
)

// Pin sets or removes a checkpoint's pin, and reports any change. Retention never drops a
// pinned checkpoint, live or archived.
func (s *Chains) Pin(ctx context.Context, issue checkpoint.Issue, id checkpoint.ID, on bool) (bool, error) {
	verb := "unpin"
	if on {
		verb = "pin"
	}
	changed := false
	err := s.Alter(ctx, issue, func(c *Chain, _ *repo.ObjectWriter) (*Change, error) {
		changed = false
		if c.Find(id) == nil && !c.Ledger.IsArchived(id) {
			return nil, &repo.NotFoundError{Issue: issue, Name: string(id)}
		}
		if c.Ledger.Pinned(id) == on {
			return nil, nil
		}
		changed = true
		return &Change{
			Verb: verb, Ids: []checkpoint.ID{id},
			Ledger: func(l *ledger.Ledger) { l.SetPin(id, on, s.Now()) },
		}, nil
	})
	if err != nil {
		return false, fmt.Errorf("%s %s: %w", verb, id, err)
	}
	return changed, nil
}
