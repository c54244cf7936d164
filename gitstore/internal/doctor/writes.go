package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/repo"
)

// TryWrites writes a file into the main folders that a save writes to, and removes it. It also checks
// the permissions of all other folders of objects, and of the files of this program: another user,
// such as root, may own a single folder. It returns the first failure.
func (s *Doctor) TryWrites() error {
	info := s.repo.Info
	if err := cmp.Or(tryWrite(info.ObjectDir, "tmp_obj_*"), tryWrite(info.CommonDir, ".tmp-*.lock"), tryWrite(info.Dir, ".tmp-*.lock")); err != nil {
		return fmt.Errorf("nothing can be saved here: %w", err)
	}
	paths := []string{filepath.Join(info.CommonDir, "reftable"), filepath.Join(info.ObjectDir, "pack")}
	fanOut, _ := filepath.Glob(filepath.Join(info.ObjectDir, "[0-9a-f][0-9a-f]"))
	paths = append(paths, fanOut...)
	own := []string{filepath.Join(info.CommonDir, "git-checkpoint"), s.repo.StateDir()}
	for _, prefix := range []string{repo.LiveRefs, repo.ArchiveRefs, repo.BookRefs} {
		own = append(own, filepath.Join(info.CommonDir, filepath.FromSlash(prefix)), filepath.Join(info.CommonDir, "logs", filepath.FromSlash(prefix)))
	}
	for _, dir := range own {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && (d.IsDir() || d.Type().IsRegular() && !strings.HasSuffix(path, ".lock")) {
				paths = append(paths, path)
			}
			return nil // a folder that cannot be listed is in the list itself
		})
	}
	for _, path := range paths {
		if err := fsutil.IgnoreMissing(fsutil.CheckWritable(path)); err != nil {
			return fmt.Errorf("nothing can be saved here: %w", err)
		}
	}
	if info.Root != "" {
		if err := tryWrite(info.Root, ".tmp-*.lock"); err != nil {
			return fmt.Errorf("nothing can be restored here: %w", err)
		}
	}
	return nil
}

// tryWrite creates and removes a file in a folder. Git and this program ignore the name of the file, a
// pattern of os.CreateTemp.
func tryWrite(dir, name string) error {
	f, err := os.CreateTemp(dir, name)
	if err == nil {
		_, err = f.WriteString("x")
		err = cmp.Or(err, f.Close(), os.Remove(f.Name()))
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = &fs.PathError{Op: "write", Path: dir, Err: p.Err}
	}
	return err
}
