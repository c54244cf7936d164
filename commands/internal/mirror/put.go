package mirror

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/gitstore/layout"
)

// ErrChanged reports that a file differs from the recorded state and was left unchanged.
var ErrChanged = errors.New("changed since it was last read")

// Put writes an owner's file unless another program has changed it. If mine reports a
// generated view, Put replaces the file regardless of changes.
func (t *Tree) Put(s *State, name string, want layout.Output, owner, key string, mine func(data []byte) bool) error {
	if err := t.plain(path.Dir(name)); err != nil {
		return err
	}
	if want.Link != "" {
		return t.putLink(s, name, want, owner)
	}
	data, info, err := t.now(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case bytes.Equal(data, want.Data):
		s.Took(ChangedFile{Path: name, Data: data, info: info}, owner, key)
		return nil
	case Sum(data) != s.Files[name].Sum && !mine(data):
		return ErrChanged
	}
	if err := Replace(t.root, name, want); err != nil {
		return err
	}
	f := ChangedFile{Path: name, Data: want.Data}
	if f.info, err = t.root.Lstat(name); err != nil {
		return err
	}
	s.Took(f, owner, key)
	return nil
}

// putLink creates or replaces a symlink. A copy replaces the symlink if the system has no
// symlinks.
func (t *Tree) putLink(s *State, name string, want layout.Output, owner string) error {
	info, err := t.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		if to, err := t.root.Readlink(name); err == nil && to == want.Link {
			return nil
		}
	case !info.Mode().IsRegular() || s.Files[name].Owner != owner:
		return ErrChanged
	}
	if err := Replace(t.root, name, want); err != nil {
		return err
	}
	s.Files[name] = FileState{Owner: owner}
	return nil
}

// now returns the current content of a regular file.
func (t *Tree) now(name string) ([]byte, fs.FileInfo, error) {
	info, err := t.root.Lstat(name)
	switch {
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, errors.New("not a file of its own")
	case info.Size() > t.max:
		return nil, nil, fmt.Errorf("%d bytes, more than the limit of %d", info.Size(), t.max)
	}
	return t.read(name)
}

// plain returns an error if a directory in the path is a symlink or another kind of file.
func (t *Tree) plain(dir string) error {
	switch {
	case dir == ".":
		return nil
	case !filepath.IsLocal(filepath.FromSlash(dir)):
		return fmt.Errorf("%s is outside the worktree", dir)
	}
	if err := t.plain(path.Dir(dir)); err != nil {
		return err
	}
	info, err := t.root.Lstat(dir)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a directory of its own", dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Remove removes an unchanged file of the state. A missing or changed file is only
// removed from the state. If a temporary error prevents removal, the file remains in the
// state.
func (t *Tree) Remove(s *State, name string) error {
	known := s.Files[name]
	err := t.remove(known, name)
	if !atomicfile.IsPassing(err) {
		delete(s.Files, name)
	}
	return err
}

func (t *Tree) remove(known FileState, name string) error {
	if err := t.plain(path.Dir(name)); err != nil {
		return err
	}
	info, err := t.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && info.Mode()&fs.ModeSymlink != 0 && known.Sum == "":
		return t.root.Remove(name)
	}
	data, _, err := t.now(name)
	if err != nil {
		return err
	}
	if Sum(data) != known.Sum {
		return ErrChanged
	}
	return t.root.Remove(name)
}

// Replace atomically replaces the file or symlink at name. A regular file keeps the mode
// of the replaced file.
func Replace(dir *os.Root, name string, want layout.Output) error {
	if err := dir.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	removeStale(dir, name)
	temp := path.Join(path.Dir(name), fmt.Sprintf(".%s.%d.tmp", path.Base(name), os.Getpid())) // readers of documents ignore this name
	_ = dir.Remove(temp)                                                                       // left by a killed process; removed because a symlink at this path must not be followed
	err := fill(dir, temp, want)
	if was, lstatErr := dir.Lstat(name); err == nil && lstatErr == nil && was.Mode().IsRegular() && want.Link == "" {
		err = dir.Chmod(temp, was.Mode().Perm())
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return err
}

// removeStale removes temporary files of killed processes.
func removeStale(dir *os.Root, name string) {
	folder, err := dir.Open(filepath.FromSlash(path.Dir(name)))
	if err != nil {
		return
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	for _, n := range names {
		rest, ours := strings.CutPrefix(n, "."+path.Base(name)+".")
		number, temp := strings.CutSuffix(rest, ".tmp")
		pid, err := strconv.Atoi(number)
		if ours && temp && err == nil && !atomicfile.IsRunning(pid) {
			_ = dir.Remove(path.Join(path.Dir(name), n))
		}
	}
}

func fill(dir *os.Root, temp string, want layout.Output) error {
	if want.Link != "" {
		err := dir.Symlink(want.Link, temp)
		if err == nil {
			return nil
		}
		if atomicfile.IsPassing(err) {
			return err
		}
		// Without symlink support, a copy replaces the symlink.
		want.Data, err = dir.ReadFile(path.Join(path.Dir(temp), want.Link))
		if err != nil {
			return err
		}
	}
	w, err := dir.OpenFile(filepath.FromSlash(temp), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = w.Write(want.Data)
	return errors.Join(err, w.Sync(), w.Close())
}
