//go:build !linux

package restore

import (
	"errors"
	"os"
)

// exchange swaps two files where the system can.
func exchange(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }

// moveNew moves a file to where nothing is, where the system can.
func moveNew(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }
