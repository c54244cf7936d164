package repo

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"git-checkpoint/gitstore/fsutil"
)

// syncDirs makes created, renamed and removed entries of directories durable. Concurrent
// syncs share the file system's journal commits.
func syncDirs(dirs []string) error {
	slices.Sort(dirs)
	return eachAtOnce(slices.Compact(dirs), fsutil.SyncDir)
}

// syncFiles makes the contents of files durable.
func syncFiles(files []*os.File) error { return eachAtOnce(files, (*os.File).Sync) }

func eachAtOnce[T any](all []T, f func(T) error) error {
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, one := range all {
		wait.Go(func() { errs[i] = f(one) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// SyncNearest syncs a directory that another process may remove. After a removal,
// SyncNearest syncs the nearest existing parent, which contains the removal.
func SyncNearest(dir string) error {
	for {
		err := fsutil.SyncDir(dir)
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return err
		}
		dir = filepath.Dir(dir)
	}
}

// WriteFile durably replaces a file of this program. Readers see either the old or the
// new content.
func (s *Repo) WriteFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return fsutil.ReplaceFile(path, bytes.NewReader(data), fsutil.ReplaceOptions{
		Temp: ".tmp-",
		Mode: 0o600,
		Prepare: func(temp *os.File) error {
			s.Objects.Share(dir, temp.Name())
			return nil
		},
		Sync:    true,
		SyncDir: fsutil.SyncDir,
	})
}
