package restore

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two files, so that neither is ever missing. It fails with
// errors.ErrUnsupported where the file system cannot do that.
func exchange(from *os.File, a string, to *os.File, b string) error {
	return rename(from, a, to, b, unix.RENAME_EXCHANGE)
}

// moveNew moves a file to where nothing is, else fs.ErrExist.
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
