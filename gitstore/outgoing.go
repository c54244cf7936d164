package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/remote"
)

// Exposed are commits that others have, or are about to get.
type Exposed = remote.Exposed

// Outgoing is what a push of an issue's chain would show to a remote.
type Outgoing = remote.Outgoing

// Outgoing looks at what a push of an issue's chain would show. A checkpoint
// carries HEAD as it was, which must be in the push already or on the remote,
// as far as this clone knows.
func (s *Store) Outgoing(ctx context.Context, name string, i checkpoint.Issue, e Exposed) (Outgoing, error) {
	tip, err := s.readRef(ctx, LiveRef(i))
	if err != nil || tip.IsZero() {
		return Outgoing{Nothing: true}, err
	}
	seen, err := s.readRef(ctx, s.trackingRef(name, i))
	if err != nil || seen == tip {
		return Outgoing{Nothing: true}, err
	}
	return s.here().Showing(ctx, name, e, remote.RefUpdate{Ref: LiveRef(i), Tip: tip, Seen: seen})
}

// Fetched are commits that came from a remote: what any remote-tracking branch
// has, and where a shallow clone was cut.
func (s *Store) Fetched(ctx context.Context) Exposed {
	var e Exposed
	refs, err := s.refs.Values(ctx, "refs/remotes/")
	for _, hash := range refs {
		e.There = append(e.There, hash.String())
	}
	if data, readErr := os.ReadFile(filepath.Join(s.repo.CommonDir, "shallow")); err == nil && readErr == nil {
		e.There = append(e.There, strings.Fields(string(data))...)
	}
	return e
}
