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
)

// places opens the parent directories of worktree paths without following symlinks. It keeps
// those of the last path open, so that a sequence of sorted paths opens each directory once.
// Before each use it compares the open directories with those that the worktree has now: a
// directory that was moved away, or replaced by a symlink, is never used again. places is used by
// one goroutine. The caller must call close.
type places struct {
	root   *os.Root
	fixed  bool      // see open
	isOwn  bool      // close closes the root too
	handle *os.File  // see place.open
	held   []heldDir // parents of the last path, from the root down
}

// A heldDir is an open directory. It keeps its inode from being reused, so that an equal inode
// means the same directory.
type heldDir struct {
	name   string // in its parent
	dir    *os.Root
	info   fs.FileInfo
	handle *os.File // see place.open
}

// A place is an open parent directory and a file name. It is valid until the next use of places.
type place struct {
	dir    *os.Root
	name   string
	handle **os.File
}

// A blockedError reports that a parent path is not a directory.
type blockedError struct{ path string }

func (e *blockedError) Error() string { return fmt.Sprintf("%q is not a directory", e.path) }

// open returns the place of a path. If mkdir is set, it creates missing directories; otherwise it
// returns fs.ErrNotExist. It returns a *blockedError if a parent is not a directory. If fixed is
// set, open does not compare open directories again: they belong to this program, or they are only
// read for a plan, and the comparison follows before a change.
func (p *places) open(name string, mkdir bool) (place, error) {
	parent, base := path.Split(name)
	at := place{p.root, base, &p.handle}
	depth := 0
	for part := range strings.SplitSeq(strings.TrimSuffix(parent, "/"), "/") {
		if part == "" {
			break
		}
		if depth == len(p.held) || p.held[depth].name != part || !p.fixed && !p.held[depth].isStillIn(at.dir) {
			p.closeBelow(depth)
			dir, info, err := openDir(at.dir, part, mkdir)
			if err == errNotDir {
				return place{}, &blockedError{strings.Join(strings.Split(parent, "/")[:depth+1], "/")}
			}
			if err != nil {
				return place{}, err
			}
			p.held = append(p.held, heldDir{name: part, dir: dir, info: info})
		}
		at.dir, at.handle = p.held[depth].dir, &p.held[depth].handle
		depth++
	}
	p.closeBelow(depth)
	return at, nil
}

// isStillIn reports whether a directory still has its name in its parent.
func (h *heldDir) isStillIn(parent *os.Root) bool {
	now, err := parent.Lstat(h.name)
	return err == nil && os.SameFile(h.info, now)
}

func (p *places) closeBelow(depth int) {
	for _, h := range p.held[depth:] {
		h.dir.Close()
		if h.handle != nil {
			h.handle.Close()
		}
	}
	p.held = p.held[:depth]
}

// openPlaces returns the places of the worktree.
func (s *Worktree) openPlaces() (*places, error) {
	root, err := os.OpenRoot(s.Root)
	return &places{root: root, isOwn: true}, err
}

func (p *places) close() {
	p.closeBelow(0)
	if p.isOwn {
		p.root.Close()
	}
	if p.handle != nil {
		p.handle.Close()
		p.handle = nil
	}
}

// open returns the directory of a place for system calls. places closes it.
func (pl place) open() (*os.File, error) {
	if *pl.handle == nil {
		f, err := pl.dir.Open(".")
		if err != nil {
			return nil, err
		}
		*pl.handle = f
	}
	return *pl.handle, nil
}

// openFile opens the file of a place for reading. It fails for a symlink.
func (pl place) openFile() (*os.File, error) {
	dir, err := pl.open()
	if err != nil {
		return nil, err
	}
	f, err := fsutil.OpenIn(pl.dir, dir, pl.name)
	if errors.Is(err, syscall.ELOOP) {
		return nil, ErrConcurrentChange // it was a file when the caller looked
	}
	return f, err
}

var errNotDir = fmt.Errorf("not a directory")

// openDir opens a subdirectory. It compares the opened directory with the previous lstat,
// so a symlink cannot be swapped in between.
func openDir(dir *os.Root, name string, mkdir bool) (*os.Root, fs.FileInfo, error) {
	info, err := dir.Lstat(name)
	if mkdir && os.IsNotExist(err) {
		if err := dir.Mkdir(name, 0o777); err != nil && !os.IsExist(err) {
			return nil, nil, err
		}
		info, err = dir.Lstat(name)
	}
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		return nil, nil, errNotDir
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, nil, err
	}
	if opened, err := next.Stat("."); err != nil || !os.SameFile(info, opened) {
		next.Close()
		return nil, nil, errNotDir
	}
	return next, info, nil
}
