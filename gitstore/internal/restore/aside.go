package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A restore does not copy large, unreadable and git-lfs files into the entry of its operation. It
// sets such a file aside: it renames the file into the folder of the entry (operation.Log.Kept). The
// undo renames it back, and sets aside what it replaces by the same rules. A kill never leaves the path
// without a file.

// errNotAside reports that a file could not be set aside, for example because it is on another file
// system than the git directory.
var errNotAside = errors.New("cannot be set aside")

// aside marks an error of a rename that sets a file aside.
func aside(err error) error {
	if err == nil || errors.Is(err, ErrConcurrentChange) {
		return err
	}
	return fmt.Errorf("%w: %w", errNotAside, err)
}

// unread returns a file to be set aside. Size and modification time, which a rename keeps, stand for
// its content.
func unread(d fileOnDisk) fileOnDisk {
	if !d.kept {
		text := fmt.Appendf(nil, "%d %d", d.info.Size(), d.info.ModTime().UnixNano())
		d.hash, d.kept = plumbing.ComputeHash(plumbing.BlobObject, text), true
	}
	return d
}

// findLFS returns the paths of steps whose files have the attribute of git-lfs.
func (s *worktree) findLFS(ctx context.Context, steps []Step) (map[string]bool, error) {
	if !slices.ContainsFunc(s.repo.Config, func(e git.ConfigEntry) bool { return strings.HasPrefix(e.Key, "filter.lfs.") }) {
		return nil, nil
	}
	var paths bytes.Buffer
	for _, st := range steps {
		if st.work && st.before.disk.mode != 0 && st.before.disk.mode != trees.ModeSymlink {
			paths.WriteString(st.path + "\x00")
		}
	}
	if paths.Len() == 0 {
		return nil, nil
	}
	out, err := s.inRoot().Pipe(ctx, paths.Bytes(), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return nil, fmt.Errorf("find git-lfs files: %w", err)
	}
	found := map[string]bool{}
	for fields := git.Fields(out); len(fields) >= 3; fields = fields[3:] {
		found[fields[0]] = fields[2] == "lfs"
	}
	return found, nil
}

// openKept opens the folder of the entry for files that are set aside, which it creates.
func (w *staging) openKept() (err error) {
	if w.kept != nil {
		return nil
	}
	if err := os.MkdirAll(w.s.kept, 0o777); err != nil {
		return err
	}
	w.s.repo.Objects.Share(filepath.Dir(w.s.kept), w.s.kept)
	w.kept, err = openPlaces(w.s.kept, true)
	return err
}

// freePlace returns an unused place for the file of a path that is set aside.
func (w *staging) freePlace(path string) (place, error) {
	if err := w.openKept(); err != nil {
		return place{}, aside(err)
	}
	for n := 0; ; n++ {
		pl, err := w.kept.open(fmt.Sprintf("%s.%d", keptName(path), n), false)
		if err != nil {
			return place{}, aside(err)
		}
		if _, err := pl.dir.Lstat(pl.name); errors.Is(err, fs.ErrNotExist) {
			return pl, nil
		} else if err != nil {
			return place{}, aside(err)
		}
	}
}

// keptName begins the names of the files of a path that are set aside.
func keptName(path string) string {
	return plumbing.ComputeHash(plumbing.BlobObject, []byte(path)).String()[:16]
}

// findKept returns the place of the file that was set aside for a path.
func (w *staging) findKept(path string, want fileOnDisk) (place, error) {
	if err := w.openKept(); err != nil {
		return place{}, err
	}
	entries, err := readDir(w.kept.root)
	if err != nil {
		return place{}, err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), keptName(path)+".") {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && unread(fileOnDisk{info: info}).hash == want.hash {
			return w.kept.open(e.Name(), false)
		}
	}
	return place{}, trees.Corrupt("operation", "path %q: its file is not in %s", path, w.s.kept)
}

// exchangeKept replaces a file, which it sets aside, by a ready one.
func (w *staging) exchangeKept(st Step, ready place) error {
	free, err := w.freePlace(st.path)
	if err != nil {
		return err
	}
	pl, err := w.s.in.open(st.path, false)
	if err != nil {
		return meanwhile(err)
	}
	// The ready file is at the free place before the exchange, so that no kill leaves the other file
	// among those of the staging directory.
	if err := os.Rename(ready.path(), free.path()); err != nil {
		return aside(err)
	}
	err = swap(free, pl, st.before.disk)
	if !errors.Is(err, errors.ErrUnsupported) {
		return aside(err)
	}
	second, err := w.freePlace(st.path)
	if err == nil {
		err = aside(os.Link(pl.path(), second.path()))
	}
	if err == nil {
		err = moveChecked(free, pl, st.before.disk)
	}
	return err
}

// path returns the path of a place, for calls that take no directory.
func (pl place) path() string { return filepath.Join(pl.dir.Name(), pl.name) }
