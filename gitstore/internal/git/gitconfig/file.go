package gitconfig

import (
	"errors"
	"io/fs"
	"os"
)

// maxFile is the maximum file size in bytes.
const maxFile = 1 << 20

var errIrregular = errors.New("no small regular file")

// ReadFile reads a small file of a repository's setup, such as HEAD or config. It fails
// for irregular files and for files above 1 MiB, because the repository may be hostile:
// reading a pipe or a device might never end.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errIrregular}
	}
	return os.ReadFile(path)
}
