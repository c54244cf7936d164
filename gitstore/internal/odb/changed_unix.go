//go:build unix

package odb

import (
	"encoding/hex"
	"io"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"

	"golang.org/x/sys/unix"
)

// A change identifies a file by device and inode, with its inode change time (ctime).
// Renames update the ctime too.
type change struct {
	dev, ino uint64
	at       time.Time
}

func changeOf(path string) (change, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return change{}, err
	}
	return change{dev: uint64(st.Dev), ino: uint64(st.Ino), at: time.Unix(st.Ctim.Unix())}, nil //nolint:unconvert // the types differ among systems
}

// changedFanOut returns the names of loose object directories, 00 to ff, with a ctime at
// or after since. It opens dir once and stats names relative to that descriptor, because
// each save after a commit calls it.
func changedFanOut(dir string, since time.Time) (names []string) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	for n := range 256 {
		name := hex.EncodeToString([]byte{byte(n)})
		var st unix.Stat_t
		if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && !time.Unix(st.Ctim.Unix()).Before(since) {
			names = append(names, name)
		}
	}
	return names
}

// changedFiles returns the paths of regular files in dir with a ctime at or after since.
// It skips temporary files, because nothing references them. Calling fstatat relative to
// dir takes half the time of os.ReadDir and needs no path per file.
func changedFiles(dir string, since time.Time) (files []string) {
	d, err := fsutil.OpenFile(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil && err != io.EOF {
		return nil
	}
	fd := int(d.Fd())
	for _, name := range names {
		var st unix.Stat_t
		if !strings.HasPrefix(name, "tmp_") && unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil &&
			st.Mode&unix.S_IFMT == unix.S_IFREG && !time.Unix(st.Ctim.Unix()).Before(since) {
			files = append(files, filepath.Join(dir, name))
		}
	}
	return files
}
