package gitconfig

import (
	"errors"
	"io/fs"
	"os"
)

// maxFile is the size in bytes of the largest file that is read here.
const maxFile = 1 << 20

var errIrregular = errors.New("no small regular file")

// ReadFile reads one of the small files that say where a repository is and how
// it is set up. Whoever made the repository chose what stands there: a pipe or
// a device would be read for ever, so it fails for all that is no regular file
// of at most a megabyte.
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
