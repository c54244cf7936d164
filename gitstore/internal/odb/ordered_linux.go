package odb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"git-checkpoint/gitstore/fsutil"

	"golang.org/x/sys/unix"
)

// orderedFS reports whether a directory is on ext4 with a journal. The ext4 journal is
// one sequence: fsync of any file commits all earlier changes of names and sizes, in all
// files. Data is safe if its writeback has ended before that fsync. No other file system
// is known to guarantee this, so files there are synced individually. The same applies if
// /sys has no information, as in some containers.
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

// onDevice reports whether file f is on the file system of dir.
func onDevice(f *os.File, dir string) bool {
	var of, at unix.Stat_t
	return unix.Fstat(int(f.Fd()), &of) == nil && unix.Stat(dir, &at) == nil && of.Dev == at.Dev
}

// startWriting starts the writeback of a file's data.
func startWriting(f *os.File) error { return writeRange(f, unix.SYNC_FILE_RANGE_WRITE) }

// waitWritten waits for the writeback of a file's data, but not for the journal or the
// disk cache.
func waitWritten(f *os.File) error {
	return writeRange(f, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
}

func writeRange(f *os.File, flags int) error {
	if !fsutil.Syncs() {
		return nil
	}
	for {
		err := unix.SyncFileRange(int(f.Fd()), 0, 0, flags)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
