package health

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Folders are where the files of a repository are that may be left behind.
type Folders struct {
	Common  string   // $GIT_COMMON_DIR
	Objects string   // objects
	Cache   string   // of this program, for all worktrees
	Refs    []string // prefixes of the refs that this program moves
	State   string   // the name of the folder of this program's files in each $GIT_DIR
}

// Files are the locks and temporary files that are there now, of those at work
// and of those that are gone.
func (f Folders) Files() ([]LeftFile, error) {
	var found []LeftFile
	look := func(dir string, deep bool, kind FileKind, is func(string) bool) error {
		return eachFile(dir, deep, func(path string, d fs.DirEntry) {
			if !is(d.Name()) {
				return
			}
			if info, err := d.Info(); err == nil {
				found = append(found, LeftFile{Path: f.Name(path), Kind: kind, At: info.ModTime()})
			}
		})
	}
	var errs []error
	for _, prefix := range f.Refs {
		errs = append(errs, look(filepath.Join(f.Common, filepath.FromSlash(prefix)), true, RefLock, isLock))
	}
	errs = append(errs,
		look(f.Common, false, RefLock, func(name string) bool { return name == "packed-refs.lock" }),
		look(f.Objects, true, Object, isHalfObject),
		look(f.Cache, false, Temporary, func(name string) bool { return strings.HasPrefix(name, "new-") }))
	for _, dir := range f.worktrees() {
		errs = append(errs,
			look(filepath.Join(dir, f.State), false, Temporary, func(name string) bool { return strings.HasPrefix(name, ".tmp-") }),
			look(dir, false, IndexLock, func(name string) bool { return name == "index.lock" }),
			look(dir, false, Temporary, isIndexCopy))
	}
	return found, errors.Join(errs...)
}

// Pending are the worktrees in which a restore was interrupted.
func (f Folders) Pending() []string {
	var places []string
	for _, dir := range f.worktrees() {
		if _, err := os.Lstat(filepath.Join(dir, f.State, "restore")); err == nil {
			places = append(places, f.Name(dir))
		}
	}
	return places
}

// worktrees are the $GIT_DIR of all worktrees, that of the main one first.
func (f Folders) worktrees() []string {
	dirs := []string{f.Common}
	linked, _ := os.ReadDir(filepath.Join(f.Common, "worktrees"))
	for _, d := range linked {
		dirs = append(dirs, filepath.Join(f.Common, "worktrees", d.Name()))
	}
	return dirs
}

// Remove removes files by the names that findings have for them, if they were
// not written after until: a lock may be another one by now.
func (f Folders) Remove(names []string, until time.Time) error {
	for _, name := range names {
		file := f.path(name)
		if info, err := os.Lstat(file); err == nil && info.ModTime().After(until) {
			return fmt.Errorf("remove: %s: somebody has it meanwhile", name)
		}
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove: %w", err)
		}
	}
	return nil
}

// Name is how findings name a file: relative to the repository's folder, and
// one elsewhere in full.
func (f Folders) Name(path string) string {
	if rel, err := filepath.Rel(f.Common, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// path is where a file is that has a name.
func (f Folders) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(f.Common, filepath.FromSlash(name))
}

func isLock(name string) bool { return strings.HasSuffix(name, ".lock") }

// isHalfObject reports whether a name is one that git and this program give an
// object, a pack or a file of a pack before it is whole. Git prune removes them.
func isHalfObject(name string) bool { return strings.HasPrefix(name, "tmp_") }

// isIndexCopy knows the copies of a staging area that git is given to read:
// index-<process>-<random>.
func isIndexCopy(name string) bool {
	process, random, ok := strings.Cut(strings.TrimPrefix(name, "index-"), "-")
	return ok && strings.HasPrefix(name, "index-") && digits(process) && random != "" && !isLock(name)
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// eachFile calls f for the files in a directory, or for all below it. One that
// is not there has none, and one that goes meanwhile is gone.
func eachFile(dir string, deep bool, f func(path string, d fs.DirEntry)) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && !deep && path != dir:
			return fs.SkipDir
		case !d.IsDir():
			f(path, d)
		}
		return nil
	})
}
