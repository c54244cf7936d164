package filelock

import (
	"os"

	"golang.org/x/sys/windows"
)

const noFollow = 0

// lockedAt is the offset of the locked byte. Locks of Windows block reads and writes, so
// the byte is after the content of every lock file.
const lockedAt = 1 << 30

// Try locks f and reports success. It fails if another process has the lock. Child
// processes do not inherit the lock.
func Try(f *os.File) bool {
	at := &windows.Overlapped{OffsetHigh: lockedAt}
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at) == nil
}
