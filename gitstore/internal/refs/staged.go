package refs

import (
	"os"
	"path/filepath"
	"strings"
)

// staged returns the path of the file with the new value of a ref. The path depends only
// on the ref, so that a remaining file identifies the lock of a killed process.
func (d Dir) staged(name string) string {
	return filepath.Join(d.stagedRoot(), filepath.FromSlash(strings.TrimPrefix(name, "refs/")))
}

func (d Dir) stagedRoot() string { return filepath.Join(d.Path, "git-checkpoint", "moving") }

// makeStaged creates the directory of staged files.
func (d Dir) makeStaged(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for top := filepath.Dir(filepath.Dir(d.stagedRoot())); dir != top; dir = filepath.Dir(dir) {
		d.Share(dir)
	}
	return nil
}

// clear removes the staged file and lock file of a killed process. The staged file may be
// a hard link to the ref itself, so it must not be overwritten.
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

// sameFile reports whether name refers to the open file f.
func sameFile(f *os.File, name string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(name)
	return err == nil && os.SameFile(open, named)
}
