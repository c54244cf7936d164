package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrConcurrentChange reports that a file changed after it was read.
var ErrConcurrentChange = errors.New("changed in the meantime")

// put moves a prepared file from dir to a worktree path, if the path is unchanged since
// it was read. The replaced file is moved to dir. The path never contains a partial file,
// and a concurrent edit is moved back. put then returns ErrConcurrentChange.
func put(root *os.Root, name string, was fileOnDisk, dir *os.Root, ready string) error {
	pl, err := openPlace(root, name, true)
	if err != nil {
		return meanwhile(err)
	}
	defer pl.close()
	if was.mode == 0 {
		removeEmpty(pl.dir, pl.name)
	}
	err = swap(dir, ready, pl, was)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	near, err := copyNear(dir, ready, pl, name)
	if err != nil {
		return err
	}
	return errors.Join(swap(pl.dir, near, pl, was), fsutil.IgnoreMissing(pl.dir.Remove(near)))
}

// meanwhile converts errors about a replaced directory to ErrConcurrentChange.
func meanwhile(err error) error {
	var blocked *blockedError
	if errors.As(err, &blocked) || errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) {
		return fmt.Errorf("%w: %w", ErrConcurrentChange, err)
	}
	return err
}

func swap(dir *os.Root, ready string, pl place, was fileOnDisk) error {
	from, to, done, err := handles(dir, pl.dir)
	if err != nil {
		return err
	}
	defer done()
	if was.mode == 0 {
		err := moveNew(from, ready, to, pl.name)
		if errors.Is(err, errors.ErrUnsupported) {
			err = moveChecked(dir, ready, pl, was)
		}
		return meanwhile(err)
	}
	err = exchange(from, ready, to, pl.name)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return moveChecked(dir, ready, pl, was)
	case errors.Is(err, fs.ErrNotExist):
		return ErrConcurrentChange
	case err != nil:
		return err
	}
	if got, err := dir.Lstat(ready); err != nil || !sameFile(was.info, got) {
		return errors.Join(ErrConcurrentChange, exchange(from, ready, to, pl.name))
	}
	return nil
}

// handles opens two directories for a rename between them.
func handles(a, b *os.Root) (from, to *os.File, done func(), err error) {
	if from, err = a.Open("."); err != nil {
		return nil, nil, nil, err
	}
	if to, err = b.Open("."); err != nil {
		from.Close()
		return nil, nil, nil, err
	}
	return from, to, func() { from.Close(); to.Close() }, nil
}

// moveChecked is swap with lstat and rename, for systems without an atomic exchange.
func moveChecked(dir *os.Root, ready string, pl place, was fileOnDisk) error {
	now, err := pl.dir.Lstat(pl.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !sameFile(was.info, now) {
		return ErrConcurrentChange
	}
	return os.Rename(filepath.Join(dir.Name(), ready), filepath.Join(pl.dir.Name(), pl.name))
}

// take removes an unchanged worktree file by moving it to dir.
func take(root *os.Root, name string, was fileOnDisk, dir *os.Root, trash string) error {
	pl, err := openPlace(root, name, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return meanwhile(err)
	}
	defer pl.close()
	from, to, done, err := handles(pl.dir, dir)
	if err != nil {
		return err
	}
	defer done()
	switch err := moveNew(from, pl.name, to, trash); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.EXDEV):
		now, err := pl.dir.Lstat(pl.name)
		if err == nil && !sameFile(was.info, now) {
			return ErrConcurrentChange
		}
		return fsutil.IgnoreMissing(pl.dir.Remove(pl.name))
	case err != nil:
		return err
	}
	if got, err := dir.Lstat(trash); err != nil || !sameFile(was.info, got) {
		return errors.Join(ErrConcurrentChange, moveNew(to, trash, from, pl.name))
	}
	return nil
}

// nearName returns the temporary name of a file copied from another file system. The name
// is derived from the path, so that leftovers of a killed restore can be found.
func nearName(name string) string {
	sum := plumbing.ComputeHash(plumbing.BlobObject, []byte(name)).String()
	return ".git-checkpoint-" + sum[:16]
}

func copyNear(dir *os.Root, ready string, pl place, name string) (string, error) {
	near := nearName(name)
	_ = pl.dir.Remove(near)
	info, err := dir.Lstat(ready)
	if err != nil {
		return "", err
	}
	if diskMode(info) == trees.ModeSymlink {
		target, err := dir.Readlink(ready)
		if err != nil {
			return "", err
		}
		return near, pl.dir.Symlink(target, near)
	}
	data, err := dir.ReadFile(ready)
	if err != nil {
		return "", err
	}
	return near, errors.Join(pl.dir.WriteFile(near, data, info.Mode().Perm()), pl.dir.Chmod(near, info.Mode().Perm()))
}

// removeEmpty removes a directory that contains only empty directories.
func removeEmpty(dir *os.Root, name string) {
	if info, err := dir.Lstat(name); err != nil || !info.IsDir() {
		return
	}
	if dir.Remove(name) == nil {
		return
	}
	d, err := openDir(dir, name, false)
	if err != nil {
		return
	}
	entries, _ := readDir(d)
	for _, e := range entries {
		if !e.IsDir() {
			d.Close()
			return
		}
	}
	for _, e := range entries {
		removeEmpty(d, e.Name())
	}
	d.Close()
	_ = dir.Remove(name)
}

// prune removes empty parent directories of a path, up to top. If top is "", it removes
// all empty parents. If top is ".", it removes no directory. The working directory is
// kept.
func (s *Worktree) prune(root *os.Root, name, top string) {
	if top == "." {
		return
	}
	for dir := path.Dir(name); dir != "." && !strings.HasPrefix(s.Prefix, dir+"/"); dir = path.Dir(dir) {
		pl, err := openPlace(root, dir, false)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) && dir != top {
				continue
			}
			return
		}
		info, err := pl.dir.Lstat(pl.name)
		if err == nil && info.IsDir() {
			err = pl.dir.Remove(pl.name)
		} else if err == nil {
			err = errNotDir
		}
		pl.close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) || dir == top {
			return
		}
	}
}
