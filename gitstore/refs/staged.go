package refs

import (
	"os"
	"path/filepath"
	"strings"
)

// staged is the file that holds the new value of a ref until it is the ref's
// lock: one for each ref, so that what a killed process has left tells of its
// lock.
func (d Dir) staged(name string) string {
	return filepath.Join(d.stagedRoot(), filepath.FromSlash(strings.TrimPrefix(name, "refs/")))
}

func (d Dir) stagedRoot() string { return filepath.Join(d.Path, "git-checkpoint", "moving") }

// makeStaged makes a folder for such files.
func (d Dir) makeStaged(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for top := filepath.Dir(filepath.Dir(d.stagedRoot())); dir != top; dir = filepath.Dir(dir) {
		d.Share(dir)
	}
	return nil
}

// clear removes what a killed process has left of a move: its file, which may be
// the ref itself by another name and is not to be written to, and its lock.
func (d Dir) clear(name string) error {
	staged, lock := d.staged(name), d.file(name)+".lock"
	left, err := os.Lstat(staged)
	if err != nil {
		return err
	}
	if held, err := os.Lstat(lock); err == nil && os.SameFile(left, held) {
		if err := os.Remove(lock); err != nil {
			return err
		}
	}
	return os.Remove(staged)
}

// sameFile reports whether an open file has a name.
func sameFile(f *os.File, name string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(name)
	return err == nil && os.SameFile(open, named)
}
