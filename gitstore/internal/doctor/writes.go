package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/repo"
)

// maxTried limits the files that TryWrites opens.
const maxTried = 1000

// TryWrites writes a file into each folder that a save or a restore writes to, removes it, and opens
// the files of this program for writing. It returns the first failure: another user, such as root,
// may own a single folder.
func (s *Doctor) TryWrites() error {
	info := s.repo.Info
	folders := []string{info.ObjectDir, info.CommonDir, info.Dir, filepath.Join(info.CommonDir, "reftable")}
	fanOut, _ := os.ReadDir(info.ObjectDir)
	for _, d := range fanOut {
		if len(d.Name()) == 2 || d.Name() == "pack" {
			folders = append(folders, filepath.Join(info.ObjectDir, d.Name()))
		}
	}
	for _, dir := range slices.Compact(folders) {
		if err := tryWrite(dir); err != nil {
			return fmt.Errorf("nothing can be saved here: %w", err)
		}
	}
	own := []string{filepath.Join(info.CommonDir, "git-checkpoint"), s.repo.StateDir()}
	for _, prefix := range []string{repo.LiveRefs, repo.ArchiveRefs, repo.BookRefs} {
		own = append(own, filepath.Join(info.CommonDir, filepath.FromSlash(prefix)), filepath.Join(info.CommonDir, "logs", filepath.FromSlash(prefix)))
	}
	tried := 0
	for _, dir := range own {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if tried++; tried > maxTried {
				return fs.SkipAll
			}
			switch {
			case err != nil:
			case d.IsDir():
				err = tryWrite(path)
			case d.Type().IsRegular() && !strings.HasSuffix(path, ".lock"):
				var f *os.File
				if f, err = os.OpenFile(path, os.O_WRONLY, 0); err == nil {
					err = f.Close()
				}
			}
			return fsutil.IgnoreMissing(err)
		})
		if err != nil {
			return fmt.Errorf("nothing can be saved here: %w", err)
		}
	}
	if err := tryWrite(info.Root); err != nil && info.Root != "" {
		return fmt.Errorf("nothing can be restored here: %w", err)
	}
	return nil
}

// tryWrite creates and removes a file in a folder, which may be missing. Git and this program ignore
// its name, and git prune or doctor removes the file if this process is killed.
func tryWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".tmp-*.lock")
	if err == nil {
		_, err = f.WriteString("x")
		err = cmp.Or(err, f.Close(), os.Remove(f.Name()))
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = &fs.PathError{Op: "write", Path: dir, Err: p.Err}
	}
	return fsutil.IgnoreMissing(err)
}
