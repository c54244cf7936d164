package restore

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange atomically swaps two files. It returns errors.ErrUnsupported if the file
// system does not support this.
func exchange(from *os.File, a string, to *os.File, b string) error {
	return rename(from, a, to, b, unix.RENAME_EXCHANGE)
}

// moveNew renames a file to an unused name, otherwise it returns fs.ErrExist.
func moveNew(from *os.File, a string, to *os.File, b string) error {
	return rename(from, a, to, b, unix.RENAME_NOREPLACE)
}

func rename(from *os.File, a string, to *os.File, b string, flags uint) error {
	err := unix.Renameat2(int(from.Fd()), a, int(to.Fd()), b, flags)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	return err
}
