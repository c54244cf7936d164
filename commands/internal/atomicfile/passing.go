package atomicfile

import (
	"errors"
	"syscall"
)

// IsPassing reports whether err is a disk error or an exhausted limit of the process or
// system. Such an error is unrelated to the file and may be temporary.
func IsPassing(err error) bool {
	for _, cause := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}
