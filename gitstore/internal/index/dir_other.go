//go:build !linux && !darwin

package index

import (
	"errors"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// A Dir is not supported on this system, because its files have no ctime.
type Dir struct{}

// OpenDir always fails with errors.ErrUnsupported.
func OpenDir(string) (*Dir, error) { return nil, errors.ErrUnsupported }

// OpenDir always fails with errors.ErrUnsupported.
func (*Dir) OpenDir(string) (*Dir, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (*Dir) Close() error { return nil }

// Lstat always fails with errors.ErrUnsupported.
func (*Dir) Lstat(string) (Stat, filemode.FileMode, error) {
	return Stat{}, 0, errors.ErrUnsupported
}
