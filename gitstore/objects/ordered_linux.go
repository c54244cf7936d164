package objects

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// orderedFS reports whether a directory is on ext4 with a journal. Its journal
// is one sequence: a sync of any file commits all that was done to names and
// sizes before it, in this file or another, and its data only has to have been
// written out by then. No other file system is known to promise as much, so
// there each file is synced. Where /sys does not tell, as in some containers,
// that is so too.
func orderedFS(dir string) bool {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return false
	}
	dev := uint64(st.Dev)
	device, err := os.Readlink(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(dev), unix.Minor(dev)))
	if err != nil {
		return false
	}
	_, err = os.Lstat(filepath.Join("/sys/fs/ext4", filepath.Base(device), "journal_task"))
	return err == nil
}

// onDevice reports whether an open file is on the file system of a directory.
func onDevice(f *os.File, dir string) bool {
	var of, at unix.Stat_t
	return unix.Fstat(int(f.Fd()), &of) == nil && unix.Stat(dir, &at) == nil && of.Dev == at.Dev
}

// startWriting begins to write a file's data out.
func startWriting(f *os.File) error { return writeRange(f, unix.SYNC_FILE_RANGE_WRITE) }

// waitWritten returns when a file's data is written out. The journal and the
// disk's own cache are not waited for.
func waitWritten(f *os.File) error {
	return writeRange(f, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
}

func writeRange(f *os.File, flags int) error {
	for {
		err := unix.SyncFileRange(int(f.Fd()), 0, 0, flags)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
