package chain

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// Results of a Fetch, a Push or a Sync for one issue.
const (
	UpToDate = "up to date" // both sides have the same chain
	Fetched  = "fetched"    // local chain now equals remote chain
	Pushed   = "pushed"     // remote chain now equals local chain
	Ahead    = "ahead"      // the local chain has more checkpoints
	Behind   = "behind"     // the remote chain has more checkpoints
	Diverged = "diverged"   // each side has checkpoints that the other lacks; no ref was moved
	Absent   = "none"       // the remote has no chain of the issue
	Failed   = "failed"     // see Synced.Err
)

// A Synced is the result of a Fetch, a Push or a Sync for one issue.
type Synced struct {
	Issue   checkpoint.Issue
	Fetched int  // number of fetched checkpoints
	Pushed  int  // number of pushed checkpoints
	Joined  bool // two chains were merged into a new chain
	Retries int  // number of attempts lost to faster processes
	Result  string
	Err     error // reason for Failed or Diverged, otherwise nil
}

// A RemoteError reports a remote's rejection or missing answer.
type RemoteError = remote.Error

// ErrNoRemote is returned if neither caller nor configuration names a remote.
var ErrNoRemote = errors.New("no remote is configured")

// Remote returns the default remote for checkpoints: checkpoint.remote, otherwise the
// remote of the branch's upstream, otherwise origin. It fails with ErrNoRemote.
func (s *Chains) Remote(ctx context.Context) (string, error) {
	if name, _ := git.Last(s.Config, "checkpoint.remote"); name != "" {
		return name, nil
	}
	branch, err := s.Branch(ctx)
	if err != nil {
		return "", err
	}
	if name, _ := git.Last(s.Config, "branch."+branch+".remote"); branch != "" && name != "" && name != "." {
		return name, nil
	}
	if s.configured("origin") {
		return "origin", nil
	}
	return "", ErrNoRemote
}

// configured reports whether git's configuration has a remote with this name.
func (s *Chains) configured(name string) bool { return remote.Configured(s.Config, name) }

// TrackingRef returns the remote-tracking ref of an issue's chain.
func (s *Chains) TrackingRef(name string, i checkpoint.Issue) string {
	return s.TrackingRefs(name) + i.RefName()
}

// TrackingRefs returns the prefix of the remote-tracking refs of a remote. A URL or a
// path is replaced by its digest, because it may be long or contain a password.
func (s *Chains) TrackingRefs(name string) string {
	dir := checkpoint.Issue(name).RefName()
	if !s.configured(name) || len(dir) > checkpoint.MaxIssueBytes {
		dir = fmt.Sprintf("url-%x", sha256.Sum256([]byte(name)))[:20]
	}
	return repo.RemoteRefs + dir + "/"
}

// ShownRemote returns a remote's name for output, without password.
func ShownRemote(name string) string { return remote.Shown(name) }

// LookThere returns a command for the user to inspect a remote chain.
func LookThere(remote, ref string) string {
	return fmt.Sprintf("git fetch %s %s && git log FETCH_HEAD", repo.ShellQuote(ShownRemote(remote)), repo.ShellQuote(ref))
}

// RefsHere returns local refs of issues, or of all issues for an empty list: chains,
// archives, own/ and the remote-tracking refs.
func (s *Chains) RefsHere(ctx context.Context, remote string, issues []checkpoint.Issue) (map[string]plumbing.Hash, error) {
	if len(issues) == 0 || len(issues) > ListAbove {
		return s.Refs.Values(ctx, repo.LiveRefs, repo.ArchiveRefs, repo.OwnRefs, s.TrackingRefs(remote))
	}
	here := map[string]plumbing.Hash{}
	for _, i := range issues {
		for _, name := range []string{repo.LiveRef(i), repo.ArchiveRef(i), repo.OwnRef(i), s.TrackingRef(remote, i)} {
			hash, err := s.ReadRef(ctx, name)
			if err != nil && !errors.As(err, new(*repo.CorruptError)) {
				return nil, err
			}
			here[name] = hash // a broken ref is reported when it is needed
		}
	}
	return here, nil
}

// ListAbove is the number of issues above which all refs are read.
const ListAbove = 20

// After merges an earlier attempt's result into d. In that attempt the push succeeded,
// but the local refs did not move.
func (d Synced) After(given Synced) Synced {
	d.Pushed += given.Pushed
	d.Fetched = max(d.Fetched, given.Fetched) // the same checkpoints are counted again
	d.Joined = d.Joined || given.Joined
	if d.Result == UpToDate && given.Result != "" {
		d.Result = given.Result
	}
	return d
}

// MarkDryRun converts a result into that of a dry run.
func (d *Synced) MarkDryRun() {
	if d.Result != UpToDate && d.Result != Absent {
		d.Result = "would be " + d.Result
	}
}
