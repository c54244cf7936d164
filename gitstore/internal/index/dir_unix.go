//go:build linux || darwin

package index

import (
	"os"

	"git-checkpoint/gitstore/fsutil"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"golang.org/x/sys/unix"
)

// A Dir is an open directory. Lstat examines files by paths relative to it, which costs
// less than os.Lstat for many files. It is safe for concurrent use.
type Dir struct{ f *os.File }

// OpenDir opens a directory.
func OpenDir(path string) (*Dir, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &Dir{f}, nil
}

// OpenDir opens a directory below this one, unless its name is a symlink.
func (d *Dir) OpenDir(path string) (*Dir, error) {
	fd, err := fsutil.IgnoringEINTR(func() (int, error) {
		return unix.Openat(int(d.f.Fd()), path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, err
	}
	return &Dir{os.NewFile(uintptr(fd), path)}, nil
}

// Close closes the directory.
func (d *Dir) Close() error { return d.f.Close() }

// Lstat returns a file's stat data as stored in the index, and its mode: a mode of git,
// filemode.Dir for a directory, or 0 for other files. It does not follow a symlink at the
// end of the path.
func (d *Dir) Lstat(path string) (Stat, filemode.FileMode, error) {
	var st unix.Stat_t
	err := unix.Fstatat(int(d.f.Fd()), path, &st, unix.AT_SYMLINK_NOFOLLOW)
	for err == unix.EINTR {
		err = unix.Fstatat(int(d.f.Fd()), path, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return Stat{}, 0, err
	}
	stat := Stat{
		CTime: Time{uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec)},
		MTime: Time{uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec)},
		Dev:   uint32(st.Dev), Ino: uint32(st.Ino), UID: st.Uid, GID: st.Gid, Size: uint32(st.Size),
	}
	return stat, modeOf(uint32(st.Mode)), nil
}

func modeOf(mode uint32) filemode.FileMode {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		if mode&0o100 != 0 {
			return filemode.Executable
		}
		return filemode.Regular
	case unix.S_IFLNK:
		return filemode.Symlink
	case unix.S_IFDIR:
		return filemode.Dir
	}
	return 0
}
