package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/internal/fsutil"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A staging is a directory beside the repository where files are made ready,
// so that the worktree never sees half of one: ready/<path> is what will go
// to a path, old/<n> is what came from one.
type staging struct {
	s   *Worktree
	dir string
}

// openStaging makes an empty one. What a killed restore left in another is
// either in the worktree or in its safety snapshot. A git that it started may
// still be at work there: so each has a name of its own.
func (s *Worktree) openStaging() (*staging, error) {
	_ = os.RemoveAll(s.stagingDir())
	if err := os.MkdirAll(s.stagingDir(), 0o777); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.stagingDir(), "")
	if err != nil {
		return nil, err
	}
	return &staging{s: s, dir: dir}, errors.Join(os.Mkdir(filepath.Join(dir, "ready"), 0o777), os.Mkdir(filepath.Join(dir, "old"), 0o777))
}

// stagingDir is where they are made.
func (s *Worktree) stagingDir() string { return filepath.Join(s.State, "files") }

// close removes it, and the place of them all where nobody else is there.
func (w *staging) close() error {
	err := os.RemoveAll(w.dir)
	_ = os.Remove(w.s.stagingDir())
	return err
}

func (w *staging) ready(path string) string {
	return filepath.Join(w.dir, "ready", filepath.FromSlash(path))
}

// place is where the file for a path is ready.
func (w *staging) place(name string) (place, error) {
	root, err := os.OpenRoot(filepath.Dir(w.ready(name)))
	return place{root, path.Base(name)}, err
}

// checkout lets git make the files that steps want, so that its filters
// apply: from an index that holds just these, in the root of the worktree,
// whose attributes count. Where attributes are among the files, those that
// will be there have to count, so git works in a worktree that has them.
func (w *staging) checkout(ctx context.Context, steps []Step) error {
	if len(steps) == 0 {
		return nil
	}
	var info, paths bytes.Buffer
	attributes := false
	for _, st := range steps {
		fmt.Fprintf(&info, "%o %s\t%s\x00", st.workAfter.Mode, st.workAfter.Hash, st.path)
		paths.WriteString(st.path + "\x00")
		attributes = attributes || path.Base(st.path) == ".gitattributes"
	}
	ready := filepath.Join(w.dir, "ready")
	g := w.s.Git.With("GIT_INDEX_FILE="+filepath.Join(w.dir, "index"), "GIT_DIR="+w.s.GitDir, "GIT_WORK_TREE="+w.s.Root)
	g.Dir = w.s.Root
	into := []string{"--prefix=" + ready + string(filepath.Separator)}
	if attributes {
		if err := w.copyAttributes(steps); err != nil {
			return err
		}
		g = g.With("GIT_WORK_TREE=" + ready)
		g.Dir, into = ready, nil
	}
	plain := []string{"-c", "core.splitIndex=false", "-c", "core.fsmonitor=", "-c", "core.untrackedCache=false", "-c", "core.hooksPath=" + os.DevNull}
	if _, err := g.Pipe(ctx, info.Bytes(), append(plain, "update-index", "-z", "--add", "--index-info")...); err != nil {
		return fmt.Errorf("make files: %w", err)
	}
	args := append(append(plain, "checkout-index", "-f", "-q", "-z", "--stdin"), into...)
	if _, err := g.Pipe(ctx, paths.Bytes(), args...); err != nil {
		return fmt.Errorf("make files: %w", err)
	}
	return nil
}

// copyAttributes puts the attributes that will count for the files of steps
// into ready/: the steps' own, else the worktree's.
func (w *staging) copyAttributes(steps []Step) error {
	root, err := os.OpenRoot(w.s.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	blobs := map[string]plumbing.Hash{}
	for _, st := range steps {
		if path.Base(st.path) == ".gitattributes" && blob(st.workAfter) && st.workAfter.Mode != trees.ModeSymlink {
			blobs[st.path] = st.workAfter.Hash
		}
	}
	done := map[string]bool{}
	for _, st := range steps {
		for dir := path.Dir(st.path); !done[dir]; dir = path.Dir(dir) {
			done[dir] = true
			name := strings.TrimPrefix(dir+"/.gitattributes", "./")
			data, err := w.attributes(root, name, blobs[name])
			if err != nil {
				return err
			}
			if data == nil {
				continue
			}
			if err := errors.Join(os.MkdirAll(filepath.Dir(w.ready(name)), 0o777), os.WriteFile(w.ready(name), data, 0o666)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *staging) attributes(root *os.Root, name string, blob plumbing.Hash) ([]byte, error) {
	if !blob.IsZero() {
		return trees.ReadAs(w.s.Objects, plumbing.BlobObject, blob)
	}
	pl, err := openPlace(root, name, false)
	if err != nil {
		return nil, nil // no directory, no attributes
	}
	defer pl.close()
	if info, err := pl.dir.Lstat(pl.name); err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	data, err := pl.dir.ReadFile(pl.name)
	return data, fsutil.IgnoreMissing(err)
}

// write makes a file of the very bytes that one had, past git's filters.
func (w *staging) write(name string, want fileOnDisk) error {
	data, err := trees.ReadAs(w.s.Objects, plumbing.BlobObject, want.hash)
	if err != nil {
		return err
	}
	file := w.ready(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	if want.mode == trees.ModeSymlink {
		return os.Symlink(string(data), file)
	}
	perm := fs.FileMode(want.mode & 0o777)
	return errors.Join(os.WriteFile(file, data, 0o600), os.Chmod(file, perm))
}

// made is what is ready for a path.
func (w *staging) made(name string) (fileOnDisk, error) {
	pl, err := w.place(name)
	if err != nil {
		return fileOnDisk{}, err
	}
	defer pl.close()
	info, err := pl.dir.Lstat(pl.name)
	if err != nil {
		return fileOnDisk{}, err
	}
	return hashDisk(pl.dir, pl.name, info)
}
