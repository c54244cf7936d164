package gitstore

import (
	"context"

	"git-checkpoint/gitstore/internal/secrets"
	"git-checkpoint/gitstore/internal/secrets/scan"
)

// A Publication lists the commits and files that a push of checkpoints makes public.
type Publication struct {
	Unpublished string      // newest commit of the user that the remote does not have, or ""
	Commits     int         // number of such commits, at most MaxCommits
	Secrets     []Secret    // likely secrets
	TooLarge    []LargeFile // files of checkpoints above the limit of the policy
	Untracked   []string    // paths of untracked files
}

// NewPublication returns the publication of a push, from its commits and its scanned files.
func NewPublication(out Outgoing, found *Scanned) Publication {
	return Publication{
		Unpublished: out.Unpublished, Commits: out.Commits,
		Secrets: found.Found, TooLarge: found.TooLarge, Untracked: found.Untracked,
	}
}

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
func (p Publication) Objection(policy PublicationPolicy) (what PublicationObject, ask bool) {
	switch {
	case len(p.Secrets) > 0 && !policy.Secrets:
		return SecretObjected, false
	case len(p.TooLarge) > 0:
		return LargeFileObjected, false
	case p.Unpublished != "" && !policy.Commits:
		return CommitsObjected, policy.CanAsk
	}
	return NothingObjected, false
}

// The parameters and the result of a scan for secrets.
type (
	LargeFile   = secrets.LargeFile
	ScanRequest = secrets.ScanRequest
	Scanned     = secrets.Scanned
	Secret      = secrets.Secret
)

// ScanAll searches for secrets in files that a push of issues would newly expose, regardless of
// file size. It returns a result or an error for each request. After an error, files may contain
// secrets. A file belongs to the result of each issue whose chain contains it.
func (s *Store) ScanAll(ctx context.Context, reqs []ScanRequest) ([]*Scanned, []error) {
	return s.secrets.ScanAll(ctx, reqs)
}

// MaskSecrets returns a text with each likely secret replaced, except those that allow names.
// name is the name of the text, which helps to recognize a secret.
func MaskSecrets(name, text string, allow []string) string {
	masked, _ := scan.Mask(name, text, scan.Allow(allow))
	return masked
}
