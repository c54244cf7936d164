package restore

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/fsutil"
)

// A folder is an open directory.
type folder struct {
	*os.Root
	handle *os.File // see place.open
}

// A place is an open directory and the name of a file in it.
type place struct {
	dir  *folder
	name string
}

// open returns the directory of a place for system calls. The folder closes it.
func (pl place) open() (f *os.File, err error) {
	if pl.dir.handle == nil {
		pl.dir.handle, err = pl.dir.Open(".")
	}
	return pl.dir.handle, err
}

// path returns the path of a place, for calls that take no directory.
func (pl place) path() string { return filepath.Join(pl.dir.Name(), pl.name) }

func openFolder(dir string) (*folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &folder{Root: root}, nil
}

// Close closes the directory. f can be nil.
func (f *folder) Close() error {
	if f == nil {
		return nil
	}
	if f.handle != nil {
		f.handle.Close()
	}
	return f.Root.Close()
}

// places opens the parent directories of worktree paths without following symlinks. A directory is
// opened anew for each path, so that one that was moved away, or replaced by a symlink, is not used
// again. places is used by one goroutine.
type places struct {
	root   *folder
	fixed  bool    // for a plan, the directory of the last path stays open for the next one
	parent string  // path of dir, "" for the root
	dir    *folder // of the last path
}

// open returns the place of a path, which is valid until the next use of places. If mkdir is set, it
// creates missing directories. It fails with a *fs.PathError about a parent that is missing or, with
// errNotDir, is not a directory.
func (p *places) open(name string, mkdir bool) (place, error) {
	parent, base := path.Split(name)
	parent = strings.TrimSuffix(parent, "/")
	if p.fixed && p.parent == parent {
		return place{p.dir, base}, nil
	}
	p.leave()
	for i := range len(parent) + 1 {
		if parent == "" || i < len(parent) && parent[i] != '/' {
			continue
		}
		next, err := openDir(p.dir.Root, path.Base(parent[:i]), mkdir)
		p.leave()
		if err != nil {
			return place{}, &fs.PathError{Op: "open", Path: parent[:i], Err: err}
		}
		p.dir, p.parent = &folder{Root: next}, parent[:i]
	}
	return place{p.dir, base}, nil
}

// leave goes back to the root.
func (p *places) leave() {
	if p.dir != p.root {
		p.dir.Close()
	}
	p.dir, p.parent = p.root, ""
}

func (p *places) close() {
	p.leave()
	p.root.Close()
}

// openFile opens the file of a place for reading. It fails for a symlink.
func (pl place) openFile() (*os.File, error) {
	dir, err := pl.open()
	if err != nil {
		return nil, err
	}
	f, err := fsutil.OpenIn(pl.dir.Root, dir, pl.name)
	if errors.Is(err, syscall.ELOOP) {
		return nil, ErrConcurrentChange // it was a file when the caller looked
	}
	return f, err
}

var errNotDir = errors.New("not a directory")

// openDir opens a subdirectory. It compares the opened directory with the previous lstat,
// so a symlink cannot be swapped in between.
func openDir(dir *os.Root, name string, mkdir bool) (*os.Root, error) {
	info, err := dir.Lstat(name)
	if mkdir && os.IsNotExist(err) {
		if err := dir.Mkdir(name, 0o777); err != nil && !os.IsExist(err) {
			return nil, err
		}
		info, err = dir.Lstat(name)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNotDir
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if opened, err := next.Stat("."); err != nil || !os.SameFile(info, opened) {
		next.Close()
		return nil, errNotDir
	}
	return next, nil
}
