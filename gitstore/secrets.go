package gitstore

import (
	"context"

	"git-checkpoint/gitstore/internal/secrets"
	"git-checkpoint/gitstore/internal/secrets/scan"
)

// A ScanRequest holds the parameters of a scan for secrets.
type ScanRequest = secrets.ScanRequest

// A Secret is the location of a likely secret in a file of a chain. It never contains the
// secret itself.
type Secret = secrets.Secret

// A Scanned is the result of a scan.
type Scanned = secrets.Scanned

// An Unscanned is a file that was not scanned, with the reason.
type Unscanned = secrets.Unscanned

// A LargeFile is a file of a checkpoint, with its path in the checkpoint's tree.
type LargeFile = secrets.LargeFile

// Scan searches for secrets in files that a push would newly expose, regardless of file
// size. After an error, files may contain secrets.
func (s *Store) Scan(ctx context.Context, req ScanRequest) (*Scanned, error) {
	return s.secrets.Scan(ctx, req)
}

// ScanAll is Scan for several issues of one push. It returns a result or an error for each
// request. A file belongs to the result of each issue whose chain contains it.
func (s *Store) ScanAll(ctx context.Context, reqs []ScanRequest) ([]*Scanned, []error) {
	return s.secrets.ScanAll(ctx, reqs)
}

// MaskSecrets returns a text with each likely secret replaced, except those that allow names.
// name is the name of the text, which helps to recognize a secret.
func MaskSecrets(name, text string, allow []string) string {
	masked, _ := scan.Mask(name, text, scan.Allow(allow))
	return masked
}
