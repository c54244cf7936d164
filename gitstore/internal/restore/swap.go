package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrConcurrentChange reports that a file changed after it was read.
var ErrConcurrentChange = errors.New("changed in the meantime")

// put moves a prepared file to a worktree path, if the path is unchanged since it was read.
// The replaced file gets the place of the prepared one. The path never contains a partial file,
// and a concurrent edit is moved back. put then returns ErrConcurrentChange.
func (s *worktree) put(to *places, name string, was fileOnDisk, ready place) error {
	pl, err := to.open(name, true)
	if err != nil {
		return meanwhile(err)
	}
	if was.Mode == 0 {
		removeEmpty(pl.dir.Root, pl.name)
	}
	err = swap(ready, pl, was)
	if !errors.Is(err, syscall.EXDEV) || was.isAside() {
		return err
	}
	near, err := s.copyNear(ready, pl, name)
	if err != nil {
		return err
	}
	return errors.Join(swap(near, pl, was), fsutil.IgnoreMissing(pl.dir.Remove(near.name)))
}

// meanwhile converts errors about a replaced directory to ErrConcurrentChange.
func meanwhile(err error) error {
	if errors.Is(err, errNotDir) || errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) {
		return fmt.Errorf("%w: %w", ErrConcurrentChange, err)
	}
	return err
}

func swap(ready, pl place, was fileOnDisk) error {
	if was.Mode == 0 {
		err := moveNew(ready, pl)
		if errors.Is(err, errors.ErrUnsupported) {
			err = moveChecked(ready, pl, was)
		}
		return meanwhile(err)
	}
	err := exchange(ready, pl)
	switch {
	case errors.Is(err, errors.ErrUnsupported) && was.isAside(): // a hard link keeps the replaced file
		if err := os.Rename(ready.path(), ready.next().path()); err != nil {
			return err
		}
		if err := os.Link(pl.path(), ready.path()); err != nil {
			return errors.Join(err, os.Rename(ready.next().path(), ready.path()))
		}
		return moveChecked(ready.next(), pl, was)
	case errors.Is(err, errors.ErrUnsupported):
		return moveChecked(ready, pl, was)
	case errors.Is(err, fs.ErrNotExist):
		return ErrConcurrentChange
	case err != nil:
		return err
	}
	if err := ready.check(was); err != nil {
		return errors.Join(err, exchange(ready, pl))
	}
	return nil
}

// check fails with ErrConcurrentChange if the file at a place was replaced or modified since it was read.
func (p place) check(was fileOnDisk) error {
	now, err := p.dir.Lstat(p.name)
	if err == nil && !sameFile(was.info, now) {
		return ErrConcurrentChange
	}
	return err
}

// next returns the place of the ready file while its own place has the hard link of swap.
func (p place) next() place { return place{p.dir, p.name + ".new"} }

// moveChecked is swap with lstat and rename, for systems without an atomic exchange.
func moveChecked(ready, pl place, was fileOnDisk) error {
	now, err := pl.dir.Lstat(pl.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !sameFile(was.info, now) {
		return ErrConcurrentChange
	}
	return os.Rename(ready.path(), pl.path())
}

// take removes an unchanged worktree file by moving it to trash.
func take(in *places, name string, was fileOnDisk, trash place) error {
	pl, err := in.open(name, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return meanwhile(err)
	}
	switch err := moveNew(pl, trash); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.EXDEV):
		if err := pl.check(was); errors.Is(err, ErrConcurrentChange) {
			return err
		}
		if was.isAside() {
			return aside(os.Rename(pl.path(), trash.path()))
		}
		return fsutil.IgnoreMissing(pl.dir.Remove(pl.name))
	case was.isAside() && err != nil:
		return aside(err)
	case err != nil:
		return err
	}
	if err := trash.check(was); err != nil {
		return errors.Join(err, moveNew(trash, pl))
	}
	return nil
}

// nearName returns the temporary name of a file copied from another file system. The name
// is derived from the path, so that leftovers of a killed restore can be found.
func nearName(name string) string {
	sum := plumbing.ComputeHash(plumbing.BlobObject, []byte(name)).String()
	return ".git-checkpoint-" + sum[:16]
}

// copyNear copies a prepared file into the directory of a worktree path.
func (s *worktree) copyNear(ready, pl place, name string) (place, error) {
	near := place{pl.dir, nearName(name)}
	_ = pl.dir.Remove(near.name)
	info, err := ready.dir.Lstat(ready.name)
	if err != nil {
		return place{}, err
	}
	if diskMode(info) == trees.ModeSymlink {
		target, err := ready.dir.Readlink(ready.name)
		if err != nil {
			return place{}, err
		}
		return near, pl.dir.Symlink(target, near.name)
	}
	data, err := ready.dir.ReadFile(ready.name)
	if err != nil {
		return place{}, err
	}
	if err := pl.dir.WriteFile(near.name, data, info.Mode().Perm()); err != nil {
		return near, err
	}
	return near, s.metadata(name, pl.dir.Chmod(near.name, info.Mode().Perm()))
}

// removeEmpty removes a directory that contains only empty directories, and empty directories in it.
func removeEmpty(dir *os.Root, name string) {
	if info, err := dir.Lstat(name); err != nil || !info.IsDir() || dir.Remove(name) == nil {
		return
	}
	d, err := openDir(dir, name, false)
	if err != nil {
		return
	}
	entries, _ := fs.ReadDir(d.FS(), ".")
	for _, e := range entries {
		removeEmpty(d, e.Name())
	}
	d.Close()
	_ = dir.Remove(name)
}

// prune removes empty parent directories of a path, up to top. If top is "", it removes
// all empty parents. If top is ".", it removes no directory. The working directory is
// kept.
func (s *worktree) prune(in *places, name, top string) {
	if top == "." {
		return
	}
	for dir := path.Dir(name); dir != "." && !strings.HasPrefix(s.repo.Info.Prefix, dir+"/"); dir = path.Dir(dir) {
		pl, err := in.open(dir, false)
		if err == nil {
			err = errNotDir
			if info, failed := pl.dir.Lstat(pl.name); failed != nil {
				err = failed
			} else if info.IsDir() {
				err = pl.dir.Remove(pl.name)
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) || dir == top {
			return
		}
	}
}
