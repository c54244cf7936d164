package gitstore

import (
	"context"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// tellShared warns about restored checkpoints that a remote's ledger marks as removed,
// because the next sync removes them again. A pin overrides a pruning, but nothing
// overrides a drop.
func (s *Store) tellShared(ctx context.Context, i checkpoint.Issue, ids []checkpoint.ID) {
	refs, err := s.refs.List(ctx, remoteRefs)
	if err != nil {
		return
	}
	for name, tip := range refs {
		remote, found := strings.CutSuffix(strings.TrimPrefix(name, remoteRefs), "/"+i.RefName())
		if !found {
			continue
		}
		theirs, err := s.walk(i, name, tip, 1)
		if err != nil {
			continue
		}
		for _, id := range ids {
			switch l := theirs.ledger; {
			case l.Deleted[id] || l.IsArchived(id):
				s.notify("%s is known to be gone at %s: the next sync takes it away again", id, remote)
			case l.Dead(id):
				s.notify("%s is known to be pruned at %s: unless it is pinned, the next sync takes it away again", id, remote)
			}
		}
	}
}
