//go:build !linux

package restore

import (
	"errors"
	"os"
)

// exchange is not supported on this system.
func exchange(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }

// moveNew is not supported on this system.
func moveNew(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }
