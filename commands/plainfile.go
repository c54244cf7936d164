package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A plainFile is a file of the worktree, opened. It is no folder and no pipe:
// to open one of those would wait until somebody writes.
type plainFile struct {
	*os.File
	size int64
	root *os.Root
}

// openPlain opens a file below the root of the worktree. The error for what is
// there and no plain file is errNotPlain.
func (c *Invocation) openPlain(place string) (*plainFile, error) {
	root, err := os.OpenRoot(c.store.Root())
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
		return nil, 0, fmt.Errorf("%s is a folder: %w", quotePath(filepath.ToSlash(name)), fs.ErrNotExist)
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s: %w", quotePath(filepath.ToSlash(name)), errNotPlain)
	}
	f, err := root.Open(name)
	return f, info.Size(), err
}

// errNotPlain is what a pipe or a device is.
var errNotPlain = errors.New("not a plain file")

// Close closes the file, and the folder it was opened in.
func (f *plainFile) Close() error {
	defer f.root.Close()
	return f.File.Close()
}
