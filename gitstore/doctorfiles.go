package gitstore

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/health"
)

// filesFound are the locks and temporary files that are there now, of those at
// work and of those that are gone.
func (s *Store) filesFound() ([]health.File, error) {
	var found []health.File
	add := func(kind health.Kind, path string, d fs.DirEntry) {
		if info, err := d.Info(); err == nil {
			found = append(found, health.File{Path: s.namedFile(path), Kind: kind, At: info.ModTime()})
		}
	}
	look := func(dir string, deep bool, kind health.Kind, is func(string) bool) error {
		return eachFile(dir, deep, func(path string, d fs.DirEntry) {
			if is(d.Name()) {
				add(kind, path, d)
			}
		})
	}
	var errs []error
	for _, prefix := range []string{liveRefs, archiveRefs, bookRefs} {
		errs = append(errs, look(filepath.Join(s.repo.CommonDir, filepath.FromSlash(prefix)), true, health.RefLock, isLock))
	}
	errs = append(errs,
		look(s.repo.CommonDir, false, health.RefLock, func(name string) bool { return name == "packed-refs.lock" }),
		look(s.repo.ObjectDir, true, health.Object, isHalfObject),
		look(s.CacheDir(), false, health.Temporary, func(name string) bool { return strings.HasPrefix(name, "new-") }))
	for _, dir := range s.stateDirs() {
		errs = append(errs,
			look(dir, false, health.Temporary, func(name string) bool { return strings.HasPrefix(name, ".tmp-") }),
			look(filepath.Dir(dir), false, health.IndexLock, func(name string) bool { return name == "index.lock" }),
			look(filepath.Dir(dir), false, health.Temporary, isIndexCopy))
	}
	return found, errors.Join(errs...)
}

func isLock(name string) bool { return strings.HasSuffix(name, ".lock") }

// isHalfObject knows the names that git and this program give an object or a
// pack before it is whole.
func isHalfObject(name string) bool {
	return strings.HasPrefix(name, "tmp_obj_") || strings.HasPrefix(name, "tmp_pack_") || strings.HasPrefix(name, "tmp_idx_") || strings.HasPrefix(name, "tmp_rev_")
}

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
