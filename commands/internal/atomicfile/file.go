package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Replacement holds a file's content at the time of Read, possibly of a missing file.
type Replacement struct {
	Path  string // resolved path, without symlinks
	Text  string
	Force bool // also replace read-only files and files with other hard links

	name string      // requested path
	info fs.FileInfo // nil if the file does not exist
}

// ErrChanged means that the file changed after it was read.
var ErrChanged = errors.New("it was changed meanwhile")

// An ObstacleError reports a property that the file would lose by its replacement.
type ObstacleError struct {
	Path   string
	Reason string
}

func (e *ObstacleError) Error() string { return fmt.Sprintf("replace %s: %s", e.Path, e.Reason) }

// Read reads a file. It returns no error if the file does not exist.
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

// maxLinks limits a chain of symlinks.
const maxLinks = 40

// resolve follows symlinks, even if the final target does not exist.
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
			return path, nil // path is no symlink, or does not exist
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
