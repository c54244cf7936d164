package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const noFollow = 0

// lockedAt is the offset of the locked byte. Locks of Windows block reads and writes, so
// the byte is after the content of every lock file.
const lockedAt = 1 << 30

// lock locks f. Another error than ErrHeld means that the file system has no locks. Child
// processes do not inherit the lock.
func lock(f *os.File) error {
	at := &windows.Overlapped{OffsetHigh: lockedAt}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrHeld
	}
	return err
}
