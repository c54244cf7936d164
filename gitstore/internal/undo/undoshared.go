package undo

import (
	"context"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
)

// warnRemovedAtRemotes warns about restored checkpoints that a remote's ledger marks as
// removed, because the next sync removes them again. A pin overrides a pruning, but
// nothing overrides a drop.
func (s *Restorer) warnRemovedAtRemotes(ctx context.Context, i checkpoint.Issue, ids []checkpoint.ID) {
	refs, err := s.Refs.List(ctx, repo.RemoteRefs)
	if err != nil {
		return
	}
	for name, tip := range refs {
		remote, found := strings.CutSuffix(strings.TrimPrefix(name, repo.RemoteRefs), "/"+i.RefName())
		if !found {
			continue
		}
		theirs, err := s.Walk(i, name, tip, 1)
		if err != nil {
			continue
		}
		for _, id := range ids {
			switch l := theirs.Ledger; {
			case l.Deleted[id] || l.IsArchived(id):
				s.Notify("%s is known to be gone at %s: the next sync takes it away again", id, remote)
			case l.Dead(id):
				s.Notify("%s is known to be pruned at %s: unless it is pinned, the next sync takes it away again", id, remote)
			}
		}
	}
}
