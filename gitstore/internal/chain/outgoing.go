package chain

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"
)

// An Exposed is a set of commits that other repositories have or are about to receive.
type Exposed = remote.Exposed

// An Outgoing describes commits and files that pushing an issue's chain would expose.
type Outgoing = remote.Outgoing

// Outgoing returns commits and files that pushing an issue's chain would expose. A
// checkpoint contains HEAD at its save as an ancestor. HEAD should therefore be part of
// the same push, or be known to exist at the remote.
func (s *Chains) Outgoing(ctx context.Context, name string, i checkpoint.Issue, e Exposed) (Outgoing, error) {
	tip, err := s.ReadRef(ctx, repo.LiveRef(i))
	if err != nil || tip.IsZero() {
		return Outgoing{Nothing: true}, err
	}
	seen, err := s.ReadRef(ctx, s.TrackingRef(name, i))
	if err != nil || seen == tip {
		return Outgoing{Nothing: true}, err
	}
	return s.Here().Showing(ctx, name, e, remote.RefUpdate{Ref: repo.LiveRef(i), Tip: tip, Seen: seen})
}

// Fetched returns commits that came from a remote: those of remote-tracking branches, and
// the shallow boundary.
func (s *Chains) Fetched(ctx context.Context) Exposed {
	var e Exposed
	refs, err := s.Refs.Values(ctx, "refs/remotes/")
	for _, hash := range refs {
		e.There = append(e.There, hash.String())
	}
	if data, readErr := os.ReadFile(filepath.Join(s.Info.CommonDir, "shallow")); err == nil && readErr == nil {
		e.There = append(e.There, strings.Fields(string(data))...)
	}
	return e
}
