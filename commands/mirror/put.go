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

	"git-checkpoint/commands/atomicfile"
	"git-checkpoint/gitstore/layout"
)

// ErrChanged says that a file is not what was last seen of it, so that it is
// left alone.
var ErrChanged = errors.New("changed since it was last read")

// Put makes a file of an owner what it should be, unless it was changed. A
// view is one that may be made anew whatever it says, where mine reports so.
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

// putLink makes a link, or where there are none a copy, over one that is there.
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

// now is the file as it is.
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

// plain fails where a directory of a path is a link, or no directory.
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

// Remove removes a file of the state, unless it was changed. A file that is gone
// or was changed is no longer the state's. A file that cannot be removed for now is.
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

// Replace puts a file, or a link, in the place of what is there, so that
// nobody sees half of it. A file keeps the mode of the file that it replaces.
func Replace(dir *os.Root, name string, want layout.Output) error {
	if err := dir.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	removeStale(dir, name)
	temp := path.Join(path.Dir(name), fmt.Sprintf(".%s.%d.tmp", path.Base(name), os.Getpid())) // no reader takes it for a document
	_ = dir.Remove(temp)                                                                       // of a process that was killed; what was put there is not written through
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

// removeStale removes the temporary files of processes that were killed.
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
		// Where there are no links, a copy stands for one.
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
