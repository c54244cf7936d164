package restore

import (
	"cmp"
	"errors"

	"golang.org/x/sys/unix"
)

// exchange atomically swaps two files. It returns errors.ErrUnsupported if the file
// system does not support this.
func exchange(from, to place) error { return rename(from, to, unix.RENAME_EXCHANGE) }

// moveNew renames a file to an unused name, otherwise it returns fs.ErrExist.
func moveNew(from, to place) error { return rename(from, to, unix.RENAME_NOREPLACE) }

func rename(from, to place, flags uint) error {
	old, err := from.open()
	dir, err2 := to.open()
	if err := cmp.Or(err, err2); err != nil {
		return err
	}
	err = unix.Renameat2(int(old.Fd()), from.name, int(dir.Fd()), to.name, flags)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	return err
}
