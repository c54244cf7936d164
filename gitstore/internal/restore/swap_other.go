//go:build !linux

package restore

import "errors"

// exchange is not supported on this system.
func exchange(from, to place) error { return errors.ErrUnsupported }

// moveNew is not supported on this system.
func moveNew(from, to place) error { return errors.ErrUnsupported }
