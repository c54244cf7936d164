package invoke

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"git-checkpoint/commands/internal/phrase"
)

// A plainFile is an open regular file of the worktree. Directories and named pipes are
// excluded: to open a pipe would wait for a writer.
type plainFile struct {
	*os.File
	Size int64
	root *os.Root
}

// OpenPlain opens a file below the root of the worktree. It fails with ErrNotPlain if the
// path is no regular file.
func OpenPlain(c *Invocation, place string) (*plainFile, error) {
	root, err := os.OpenRoot(c.Store.Root())
	if err != nil {
		return nil, err
	}
	f, size, err := openRegular(root, filepath.FromSlash(place))
	if err != nil {
		root.Close()
		return nil, err
	}
	return &plainFile{f, size, root}, nil
}

func openRegular(root *os.Root, name string) (*os.File, int64, error) {
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, 0, err
	case info.IsDir():
		return nil, 0, fmt.Errorf("%s is a folder: %w", phrase.QuotePath(filepath.ToSlash(name)), fs.ErrNotExist)
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s: %w", phrase.QuotePath(filepath.ToSlash(name)), ErrNotPlain)
	}
	f, err := root.Open(name)
	return f, info.Size(), err
}

// ErrNotPlain reports a path that is no regular file, such as a pipe or a device.
var ErrNotPlain = errors.New("not a plain file")

// Close closes the file and its root directory.
func (f *plainFile) Close() error {
	defer f.root.Close()
	return f.File.Close()
}
