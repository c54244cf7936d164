package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Replacement is a file as it was read, which may not exist.
type Replacement struct {
	Path  string // with all symlinks resolved
	Text  string
	Force bool // also replace a file that is read-only or has other hard links

	name string      // the path that was asked for
	info fs.FileInfo // nil if the file does not exist
}

// ErrChanged means that the file changed after it was read.
var ErrChanged = errors.New("it was changed meanwhile")

// An ObstacleError is a property of a file that a replacement would lose.
type ObstacleError struct {
	Path   string
	Reason string
}

func (e *ObstacleError) Error() string { return fmt.Sprintf("replace %s: %s", e.Path, e.Reason) }

// Read reads a file. A file that does not exist is no error.
func Read(name string) (Replacement, error) {
	path, err := resolve(name)
	if err != nil {
		return Replacement{}, err
	}
	f := Replacement{Path: path, name: name}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	if !info.Mode().IsRegular() {
		return f, fmt.Errorf("read %s: not a plain file", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	f.Text, f.info = string(data), info
	return f, nil
}

// Exists reports whether the file existed when it was read.
func (f Replacement) Exists() bool { return f.info != nil }

// maxLinks bounds a chain of symlinks.
const maxLinks = 40

// resolve follows symlinks, also one whose target does not exist.
func resolve(name string) (string, error) {
	path := name
	for range maxLinks {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil // the directory is created with the file
		}
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, filepath.Base(path))
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil // no symlink, or no file at all
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		path = target
	}
	return "", fmt.Errorf("read %s: too many symlinks", name)
}

// unchanged returns ErrChanged if the file is not as it was read.
func (f Replacement) unchanged() error {
	now, err := Read(f.name)
	if err != nil {
		return err
	}
	if now.Path != f.Path || now.Exists() != f.Exists() || now.Text != f.Text {
		return fmt.Errorf("replace %s: %w", f.Path, ErrChanged)
	}
	return nil
}

// Remove removes the file, unless it changed after it was read.
func (f Replacement) Remove() error {
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := os.Remove(f.Path); err != nil {
		return err
	}
	removeStale(f.Path)
	return syncDir(filepath.Dir(f.Path))
}
