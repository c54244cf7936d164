package gitstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/gitcmd"
	"git-checkpoint/gitstore/remote"

	"github.com/go-git/go-git/v5/plumbing"
)

// What became of an issue in a Fetch, a Push or a Sync.
const (
	UpToDate = "up to date" // both sides have the same chain
	Fetched  = "fetched"    // the chain here is the remote's now
	Pushed   = "pushed"     // the remote's is the one here
	Ahead    = "ahead"      // there is nothing to fetch, but something to push
	Behind   = "behind"     // there is nothing to push, but something to fetch
	Diverged = "diverged"   // each side has what the other lacks; nothing was moved
	Absent   = "none"       // the remote has no chain of the issue
	Failed   = "failed"     // Synced.Err says why
)

// Synced is what a Fetch, a Push or a Sync did for one issue.
type Synced struct {
	Issue   checkpoint.Issue
	Fetched int  // checkpoints that came here
	Pushed  int  // checkpoints that the remote did not have
	Joined  bool // two chains became a new one
	Retries int  // how often somebody else was first
	Result  string
	Err     error // why it failed or diverged, nil otherwise
}

// A RemoteError says that a remote refused something or did not answer.
type RemoteError = remote.Error

// ErrNoRemote says that nothing tells which remote is meant.
var ErrNoRemote = errors.New("no remote is configured")

// Remote is the remote that checkpoints go to and come from where none is
// named: checkpoint.remote, else the one of the branch's upstream, else
// origin. It fails with ErrNoRemote.
func (s *Store) Remote(ctx context.Context) (string, error) {
	if name, _ := gitcmd.Last(s.config, "checkpoint.remote"); name != "" {
		return name, nil
	}
	branch, err := s.Branch(ctx)
	if err != nil {
		return "", err
	}
	if name, _ := gitcmd.Last(s.config, "branch."+branch+".remote"); branch != "" && name != "" && name != "." {
		return name, nil
	}
	if s.configured("origin") {
		return "origin", nil
	}
	return "", ErrNoRemote
}

// configured reports whether git's configuration has a remote of this name.
func (s *Store) configured(name string) bool { return remote.Configured(s.config, name) }

// trackingRef is where an issue's chain of a remote is kept.
func (s *Store) trackingRef(name string, i checkpoint.Issue) string {
	return s.trackingRefs(name) + i.RefName()
}

// trackingRefs is where the chains of a remote are kept. A URL or a path is
// told by its digest: it may be long, and may hold a password.
func (s *Store) trackingRefs(name string) string {
	dir := checkpoint.Issue(name).RefName()
	if !s.configured(name) || len(dir) > checkpoint.MaxIssueBytes {
		dir = fmt.Sprintf("url-%x", sha256.Sum256([]byte(name)))[:20]
	}
	return remoteRefs + dir + "/"
}

// ShownRemote is a remote as it may be printed: without a password.
func ShownRemote(name string) string { return remote.Shown(name) }

// lookThere is the command that looks at a remote's chain.
func lookThere(remote, ref string) string {
	return fmt.Sprintf("git fetch %s %s && git log FETCH_HEAD", shellQuote(ShownRemote(remote)), shellQuote(ref))
}

// refsHere are the refs here of issues, of all for none: chains, archives, what
// this clone wrote, and what a remote had.
func (s *Store) refsHere(ctx context.Context, remote string, issues []checkpoint.Issue) (map[string]plumbing.Hash, error) {
	if len(issues) == 0 || len(issues) > listAbove {
		return s.refs.Values(ctx, liveRefs, archiveRefs, ownRefs, s.trackingRefs(remote))
	}
	here := map[string]plumbing.Hash{}
	for _, i := range issues {
		for _, name := range []string{LiveRef(i), ArchiveRef(i), ownRef(i), s.trackingRef(remote, i)} {
			hash, err := s.readRef(ctx, name)
			if err != nil && !errors.As(err, new(*CorruptError)) {
				return nil, err
			}
			here[name] = hash // a broken one is told of where it matters
		}
	}
	return here, nil
}
