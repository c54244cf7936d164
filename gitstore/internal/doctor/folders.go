package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Folders are the directories of a repository that may contain leftover files.
type Folders struct {
	Common  string   // $GIT_COMMON_DIR
	Objects string   // object directory
	Cache   string   // cache directory of this program, shared by all worktrees
	Refs    []string // prefixes of refs that this program updates
	State   string   // name of this program's directory in each $GIT_DIR
}

// Files returns existing locks and temporary files, of both running and ended processes.
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
		errs = append(errs, look(filepath.Join(f.Common, filepath.FromSlash(prefix)), true, RefLock, func(name string) bool { return strings.HasSuffix(name, ".lock") }))
	}
	// A cache that belongs to another user is read by that user's doctor.
	err := look(f.Cache, false, Temporary, func(name string) bool { return strings.HasPrefix(name, "new-") })
	if !errors.Is(err, fs.ErrPermission) {
		errs = append(errs, err)
	}
	errs = append(errs,
		look(f.Common, false, RefLock, func(name string) bool { return name == "packed-refs.lock" }),
		look(f.Objects, true, Object, func(name string) bool { return strings.HasPrefix(name, "tmp_") })) // git prune removes them
	for _, dir := range f.worktrees() {
		errs = append(errs,
			look(filepath.Join(dir, f.State), false, Temporary, func(name string) bool { return strings.HasPrefix(name, ".tmp-") }),
			look(dir, false, IndexLock, func(name string) bool { return name == "index.lock" }),
			look(dir, false, Temporary, func(name string) bool { // index-<process>-<random>, or its lock
				process, random, ok := strings.Cut(strings.TrimPrefix(name, "index-"), "-")
				return ok && strings.HasPrefix(name, "index-") && digits(process) && digits(strings.TrimSuffix(random, ".lock"))
			}))
	}
	return found, errors.Join(errs...)
}

// Pending returns worktrees with an interrupted restore.
func (f Folders) Pending() []string {
	var places []string
	for _, dir := range f.worktrees() {
		if _, err := os.Lstat(filepath.Join(dir, f.State, "restore")); err == nil {
			places = append(places, f.Name(dir))
		}
	}
	return places
}

// worktrees returns $GIT_DIR of all worktrees, main worktree first.
func (f Folders) worktrees() []string {
	dirs := []string{f.Common}
	linked, _ := os.ReadDir(filepath.Join(f.Common, "worktrees"))
	for _, d := range linked {
		dirs = append(dirs, filepath.Join(f.Common, "worktrees", d.Name()))
	}
	return dirs
}

// Remove removes files by their names in findings. It returns an error if a file was
// modified after until, since a lock may belong to another process by then.
func (f Folders) Remove(names []string, until time.Time) error {
	for _, name := range names {
		file := name
		if !filepath.IsAbs(name) {
			file = filepath.Join(f.Common, filepath.FromSlash(name))
		}
		if info, err := os.Lstat(file); err == nil && info.ModTime().After(until) {
			return fmt.Errorf("remove: %s: another process uses it", name)
		}
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove: %w", err)
		}
	}
	return nil
}

// Name returns a file's name for findings: relative to the common directory if possible,
// otherwise absolute.
func (f Folders) Name(path string) string {
	if rel, err := filepath.Rel(f.Common, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// eachFile calls f for each file of a directory, including subdirectories if deep is set.
// Missing directories and files removed meanwhile are skipped.
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
