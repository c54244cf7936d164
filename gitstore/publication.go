package gitstore

import (
	"cmp"
	"context"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/secrets"
	"git-checkpoint/gitstore/internal/secrets/scan"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Publication lists the commits and files that a push of checkpoints makes public.
type Publication = secrets.Publication

// MaxCommits limits the number of commits that a Publication counts.
const MaxCommits = secrets.MaxCommits

// A PublicationPolicy states which objects pushes may make public. Untracked files are a part
// of every checkpoint, and may always be pushed.
type PublicationPolicy struct {
	Secrets bool // a secret causes a warning only
	Commits bool // commits that the remote does not have need no question
	CanAsk  bool // a person can answer a question
}

// A PublicationObject is a kind of object that a push must not make public, or only after a
// question.
type PublicationObject string

// The objects of a publication that a policy may forbid.
const (
	NothingObjected   PublicationObject = ""
	SecretObjected    PublicationObject = "secret"
	LargeFileObjected PublicationObject = "large file"
	CommitsObjected   PublicationObject = "commits"
)

// Objection returns the first object that the policy does not allow to be pushed. If ask is
// set, a person may allow it; otherwise the push is refused.
func (policy PublicationPolicy) Objection(p *Publication) (what PublicationObject, ask bool) {
	switch {
	case len(p.Found) > 0 && !policy.Secrets:
		return SecretObjected, false
	case len(p.TooLarge) > 0:
		return LargeFileObjected, false
	case p.Unpublished != "" && !policy.Commits:
		return CommitsObjected, policy.CanAsk
	}
	return NothingObjected, false
}

// The parameters of a scan for secrets, and parts of its result.
type (
	LargeFile   = secrets.LargeFile
	ScanRequest = secrets.ScanRequest
	Secret      = secrets.Secret
)

// ScanAll searches for secrets in files that a push of issues would newly expose, regardless of
// file size. It returns a publication or an error for each request. After an error, files may contain
// secrets. A file belongs to the result of each issue whose chain contains it.
func (s *Store) ScanAll(ctx context.Context, reqs []ScanRequest) ([]*Publication, []error) {
	return s.secrets.ScanAll(ctx, reqs)
}

// ScanPush is ScanAll for a push of the chains of issues to a remote, with the settings of req.
// Objects that the remote lists and those below the remote-tracking refs are not scanned. Without a
// remote, all objects are scanned. If the remote does not answer within limit, its remote-tracking
// refs count.
func (s *Store) ScanPush(ctx context.Context, name string, limit time.Duration, issues []checkpoint.Issue, req ScanRequest) ([]*Publication, []error) {
	found, errs := make([]*Publication, len(issues)), make([]error, len(issues))
	var groups [][]remote.RefUpdate
	var at []int // index of the issue of each group
	for n, i := range issues {
		tip, err := s.repo.ReadRef(ctx, repo.LiveRef(i))
		var seen plumbing.Hash
		if err == nil && !tip.IsZero() {
			seen, err = s.repo.ReadRef(ctx, s.chain.TrackingRef(name, i))
		}
		if found[n], errs[n] = (&Publication{}), err; err == nil && tip != seen {
			groups, at = append(groups, []remote.RefUpdate{{Ref: repo.LiveRef(i), Tip: tip, Seen: seen}}), append(at, n)
		}
	}
	if len(groups) == 0 {
		return found, errs
	}
	var tips map[string]plumbing.Hash
	if name != "" {
		var err error
		if tips, err = s.sharer.Tips(ctx, name, limit); err != nil {
			s.repo.Notify("only the remote-tracking refs count: %v", err)
		}
	}
	outs, err := s.chain.Outgoing(ctx, name, s.sharer.WithListed(ctx, Exposed{}, tips), groups...)
	reqs := make([]ScanRequest, len(groups))
	for k, n := range at {
		reqs[k] = req
		reqs[k].Issue, reqs[k].Out = issues[n], outs[k]
	}
	scanned, failed := s.ScanAll(ctx, reqs)
	for k, n := range at {
		found[n], errs[n] = scanned[k], cmp.Or(err, failed[k])
	}
	return found, errs
}

// MaskSecrets returns a text with each likely secret replaced, except those that allow names.
// name is the name of the text, which helps to recognize a secret.
func MaskSecrets(name, text string, allow []string) string {
	masked, _ := scan.Mask(name, text, scan.Allow(allow))
	return masked
}
