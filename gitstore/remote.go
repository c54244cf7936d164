package gitstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/gitcmd"
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
type RemoteError struct {
	Op     string // fetch or push
	Remote string
	Reason string // one line, without credentials
	Hint   string // a command that looks closer
	Err    error

	Refused bool // it answered, and said no
}

func (e *RemoteError) Error() string { return fmt.Sprintf("%s: %s: %s", e.Op, e.Remote, e.Reason) }
func (e *RemoteError) Unwrap() error { return e.Err }

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
func (s *Store) configured(remote string) bool {
	prefix := "remote." + remote + "."
	return slices.ContainsFunc(s.config, func(e gitcmd.Entry) bool { return strings.HasPrefix(e.Key, prefix) })
}

// checkRemote refuses what git would take for something else.
func checkRemote(remote string) error {
	if remote == "" {
		return ErrNoRemote
	}
	if strings.HasPrefix(remote, "-") || strings.ContainsAny(remote, "\x00\n\r") {
		return &RefusedError{Reason: fmt.Sprintf("remote %q: no remote is called that", remote), Hint: "git remote -v"}
	}
	return nil
}

// trackingRef is where an issue's chain of a remote is kept.
func (s *Store) trackingRef(remote string, i checkpoint.Issue) string {
	return s.trackingRefs(remote) + i.RefName()
}

// trackingRefs is where the chains of a remote are kept. A URL or a path is
// told by its digest: it may be long, and may hold a password.
func (s *Store) trackingRefs(remote string) string {
	name := checkpoint.Issue(remote).RefName()
	if !s.configured(remote) || len(name) > checkpoint.MaxIssueBytes {
		name = fmt.Sprintf("url-%x", sha256.Sum256([]byte(remote)))[:20]
	}
	return remoteRefs + name + "/"
}

// ShownRemote is a remote as it may be printed: without a password.
func ShownRemote(remote string) string { return withoutPasswords(remote) }

// withoutPasswords removes what stands before the @ in the URLs of a text.
func withoutPasswords(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "://")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("://")
		end := strings.IndexAny(after, "/ \t\n'\"?#")
		if end < 0 {
			end = len(after)
		}
		if at := strings.LastIndexByte(after[:end], '@'); at >= 0 {
			after = after[at+1:]
		}
		text = after
	}
}
