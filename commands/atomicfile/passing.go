package atomicfile

import (
	"errors"
	"syscall"
)

// IsPassing reports whether an error comes from the disk, or from a limit of the
// process or the system: it says nothing about the file, and may be gone later.
func IsPassing(err error) bool {
	for _, cause := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}
