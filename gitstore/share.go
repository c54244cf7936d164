package gitstore

import (
	"context"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/share"
)

// FetchRequest, PushRequest, SyncRequest and OpenRemoteRequest hold the parameters of an
// operation with a remote. Each operation uses a part of the fields.
type (
	FetchRequest      = share.Request
	PushRequest       = share.Request
	SyncRequest       = share.Request
	OpenRemoteRequest = share.Request
)

// Purge removes the references to dropped checkpoints from an issue's reflogs and fetched refs, and
// the operations that can reach them. The next git gc can then delete the objects. It returns the
// remote-tracking refs that still contain one of ids. The next sync with their remote
// moves these refs and expires their reflogs.
func (s *Store) Purge(ctx context.Context, issue checkpoint.Issue, ids []checkpoint.ID) ([]string, error) {
	return s.sharer.Purge(ctx, issue, ids)
}

// Remains lists files of dropped checkpoints that git gc cannot delete.
type Remains = share.Remains

// Remaining returns files of dropped checkpoints that remain reachable or in the
// worktree. Files that HEAD had at a save do not count. Objects that are missing from
// this repository, as in a partial clone, are skipped.
func (s *Store) Remaining(ctx context.Context, dropped []Checkpoint) (*Remains, error) {
	return s.sharer.Remaining(ctx, dropped)
}

// OtherPushURLs returns the push URLs of a remote that get no checkpoints: a push goes to
// one URL only.
func (s *Store) OtherPushURLs(ctx context.Context, name string) []string {
	return remote.DestinationOf(ctx, s.repo, name).Others
}

// RemoteOf returns the remote of an issue's remote-tracking ref, one of the given names and
// URLs, or "" if the ref belongs to another one.
func (s *Store) RemoteOf(ref string, issue checkpoint.Issue, remotes []string) string {
	for _, name := range remotes {
		if s.chain.TrackingRef(name, issue) == ref {
			return name
		}
	}
	return ""
}

// RemoteHasBranch reports whether a remote has a branch. It asks for no password.
func (s *Store) RemoteHasBranch(ctx context.Context, remote, branch string, limit time.Duration) (bool, error) {
	tips, err := s.sharer.Tips(ctx, remote, limit)
	return !tips["refs/heads/"+branch].IsZero(), err
}

// FetchBranch fetches a branch of a configured remote to its remote-tracking ref, also in a clone of other
// branches. A branch that the remote lacks is no error.
func (s *Store) FetchBranch(ctx context.Context, req FetchRequest, branch string) error {
	return s.sharer.FetchBranch(ctx, req, branch)
}

// OpenRemote opens a remote's chains as a separate store for reading. The caller must
// close it. The local repository does not change: missing objects are fetched into a
// temporary repository. If the remote supports filters, only commits are fetched.
func (s *Store) OpenRemote(ctx context.Context, req OpenRemoteRequest) (*Store, error) {
	opened, err := s.sharer.OpenRemote(ctx, req)
	if err != nil {
		return nil, err
	}
	return newStore(opened), nil
}
