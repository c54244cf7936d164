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

// maxTried limits the files of this program that TryWrites opens.
const maxTried = 1000

// TryWrites writes a file into each folder that a save or a restore writes to, removes it, and opens
// the files of this program for writing. It returns the first failure: another user, such as root,
// may own a single folder.
func (s *Doctor) TryWrites() error {
	info := s.repo.Info
	paths := []string{info.ObjectDir, info.CommonDir, info.Dir, filepath.Join(info.CommonDir, "reftable"), filepath.Join(info.ObjectDir, "pack")}
	fanOut, _ := filepath.Glob(filepath.Join(info.ObjectDir, "[0-9a-f][0-9a-f]"))
	paths = append(paths, fanOut...)
	own := []string{filepath.Join(info.CommonDir, "git-checkpoint"), s.repo.StateDir()}
	for _, prefix := range []string{repo.LiveRefs, repo.ArchiveRefs, repo.BookRefs} {
		own = append(own, filepath.Join(info.CommonDir, filepath.FromSlash(prefix)), filepath.Join(info.CommonDir, "logs", filepath.FromSlash(prefix)))
	}
	for _, dir := range own {
		last := len(paths) + maxTried
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && (d.IsDir() || d.Type().IsRegular() && !strings.HasSuffix(path, ".lock")) {
				paths = append(paths, path)
			}
			if len(paths) > last {
				return fs.SkipAll
			}
			return nil // tryWrite fails at what cannot be listed
		})
	}
	for _, path := range paths {
		name := ".tmp-*.lock"
		if strings.HasPrefix(path, info.ObjectDir) {
			name = "tmp_obj_*" // git gc removes that of a killed process
		}
		if err := tryWrite(path, name); err != nil {
			return fmt.Errorf("nothing can be saved here: %w", err)
		}
	}
	if err := tryWrite(info.Root, ".tmp-*.lock"); err != nil && info.Root != "" {
		return fmt.Errorf("nothing can be restored here: %w", err)
	}
	return nil
}

// tryWrite opens a file for writing, or creates and removes a file in a folder. The path may be
// missing. Git and this program ignore the name of the file, a pattern of os.CreateTemp.
func tryWrite(path, name string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			err = f.Close()
		}
		return fsutil.IgnoreMissing(err)
	}
	f, err := os.CreateTemp(path, name)
	if err == nil {
		_, err = f.WriteString("x")
		err = cmp.Or(err, f.Close(), os.Remove(f.Name()))
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = &fs.PathError{Op: "write", Path: path, Err: p.Err}
	}
	return fsutil.IgnoreMissing(err)
}
