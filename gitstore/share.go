package gitstore

import (
	"context"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/share"
	"git-checkpoint/gitstore/trace"
)

// FetchRequest, PushRequest, SyncRequest and OpenRemoteRequest hold the parameters of an
// operation with a remote. Each operation uses a part of the fields.
type (
	FetchRequest      = share.Request
	PushRequest       = share.Request
	SyncRequest       = share.Request
	OpenRemoteRequest = share.Request
)

// Fetch fetches the chains of issues from a remote. If the remote chain extends the local
// chain, the local ref moves to the remote tip. If both have diverged, the local chain
// stays, and the remote chain is available below refs/git-checkpoint/remote. The error
// reports that the remote did not answer; errors of single issues are in their Synced.
func (s *Store) Fetch(ctx context.Context, req FetchRequest) ([]Synced, error) {
	defer trace.Begin(trace.Step, "fetch").End()
	if err := share.CheckRemote(req.Remote); err != nil {
		return nil, err
	}
	return s.sharer.Fetch(ctx, req)
}

// AreForeign reports whether branches, by default that of HEAD, are known to belong to no issue with
// checkpoints in the repository of the working directory. Hooks call it, because it needs only one git
// process.
func AreForeign(ctx context.Context, branches ...string) bool {
	return repo.AreForeign(ctx, branches...)
}

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

// Push pushes chains of issues, or of all local issues, to a remote if they contain the
// remote's chains. A ref moves only from the value that was last seen; a diverged ref
// stays. The error reports that the remote did not answer; errors of single issues are in
// their Synced.
func (s *Store) Push(ctx context.Context, req PushRequest) ([]Synced, error) {
	defer trace.Begin(trace.Step, "push").End()
	if err := share.CheckRemote(req.Remote); err != nil {
		return nil, err
	}
	if len(req.Issues) == 0 {
		issues, strange, err := s.Issues(ctx, false)
		if err != nil {
			return nil, err
		}
		s.sharer.WarnInvalidRefs("", strange)
		req.Issues = issues
	}
	return s.sharer.Push(ctx, req)
}

// OtherPushURLs returns the push URLs of a remote that get no checkpoints: a push goes to
// one URL only.
func (s *Store) OtherPushURLs(name string) []string { return remote.OtherPushURLs(s.repo.Config, name) }

// RemoteOf returns the remote of an issue's remote-tracking ref, one of the given names and
// URLs, or "" if the ref belongs to another one.
func (s *Store) RemoteOf(ref string, issue checkpoint.Issue, remotes []string) string {
	return s.chain.RemoteOf(ref, issue, remotes)
}

// HasSecret reports whether the URL of a remote contains a password or a token.
func HasSecret(url string) bool { return remote.HasSecret(url) }

// RemoteHasBranch reports whether a remote has a branch. It asks for no password.
func (s *Store) RemoteHasBranch(ctx context.Context, remote, branch string, limit time.Duration) (bool, error) {
	return s.sharer.HasBranch(ctx, remote, branch, limit)
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
