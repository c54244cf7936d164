package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A staging is a directory outside the worktree for preparing files, so that the worktree
// never contains partial files. ready/<path> is the new file of a path, old/<n> is a
// removed file.
type staging struct {
	s    *worktree
	dir  string
	own  *folder // dir
	kept *folder // for files that the operation sets aside, open after the first use

	stays []string // paths whose file could not be set aside
}

// openStaging creates an empty staging directory and removes directories of killed
// restores, whose files exist in the worktree or the entry. Each directory has
// a unique name, because a git process of a killed restore may still be writing.
func (s *worktree) openStaging() (*staging, error) {
	_ = os.RemoveAll(s.stagingDir())
	if err := os.MkdirAll(s.stagingDir(), 0o777); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.stagingDir(), "")
	if err != nil {
		return nil, err
	}
	w := &staging{s: s, dir: dir}
	err = errors.Join(os.Mkdir(w.ready(""), 0o777), os.Mkdir(filepath.Join(dir, "old"), 0o777))
	s.repo.Objects.Share(s.stagingDir(), dir, w.ready(""), filepath.Join(dir, "old")) // another user may have to abort this restore
	if err == nil {
		w.own, err = openFolder(dir)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (s *worktree) stagingDir() string { return filepath.Join(s.repo.StateDir(), "files") }

// close removes the directory, and its parent if empty.
func (w *staging) close() error {
	w.own.Close()
	w.kept.Close()
	err := os.RemoveAll(w.dir)
	_ = os.Remove(w.s.stagingDir())
	return err
}

func (w *staging) ready(path string) string {
	return filepath.Join(w.dir, "ready", filepath.FromSlash(path))
}

func (w *staging) readyPlace(path string) place { return place{w.own, "ready/" + path} }

// checkout lets git create the steps' files, so that git's filters apply. Git uses a
// temporary index with only these files, and attributes of the worktree root. If
// .gitattributes files are restored too, the new attributes have to apply, so git runs in
// an empty worktree, and reads all attributes from the index.
func (w *staging) checkout(ctx context.Context, steps []*Step) error {
	if len(steps) == 0 {
		return nil
	}
	var info, paths bytes.Buffer
	attributes := false
	for _, st := range steps {
		fmt.Fprintf(&info, "%o %s\t%s\x00", st.After.Work.Mode, st.After.Work.Hash, st.Path)
		paths.WriteString(st.Path + "\x00")
		attributes = attributes || path.Base(st.Path) == ".gitattributes"
	}
	worktree, into := w.s.repo.Info.Root, []string{"--prefix=" + w.ready("") + string(filepath.Separator)}
	if attributes {
		if err := w.listAttributes(ctx, &info, steps); err != nil {
			return err
		}
		worktree, into = w.ready(""), nil
	}
	g, err := w.s.temporaryIndex(ctx, w.dir, worktree, info.Bytes())
	if err == nil {
		_, err = g.Pipe(ctx, paths.Bytes(), append([]string{"checkout-index", "-f", "-q", "-z", "--stdin"}, into...)...)
	}
	if err != nil {
		return fmt.Errorf("make files: %w", err)
	}
	return nil
}

// listAttributes adds the .gitattributes files of the worktree that apply to steps, but for those of the
// steps, to the lines of an index. Git reads them from there, because the worktree of the steps lacks them.
func (w *staging) listAttributes(ctx context.Context, info io.Writer, steps []*Step) error {
	var names []string
	done := map[string]bool{}
	for _, st := range steps {
		done[st.Path] = true
	}
	for _, st := range steps {
		for dir := path.Dir(st.Path); !done[dir+"/"]; dir = path.Dir(dir) {
			done[dir+"/"] = true
			name := path.Join(dir, ".gitattributes")
			if _, file, _ := w.s.in.regular(name); file != nil && !done[name] {
				names = append(names, name)
			}
		}
	}
	hashes, err := w.s.repo.RootGit().HashFiles(ctx, names, true)
	for _, name := range names {
		if hash := hashes[name]; !hash.IsZero() {
			fmt.Fprintf(info, "%o %s\t%s\x00", trees.ModeFile, hash, name)
		}
	}
	return err
}

// write creates a file with exact bytes and permissions, without git's filters.
func (w *staging) write(name string, want fileOnDisk) error {
	data, err := trees.ReadAs(w.s.objects, plumbing.BlobObject, want.Hash)
	if err != nil {
		return err
	}
	file := w.ready(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	if want.Mode == trees.ModeSymlink {
		return os.Symlink(string(data), file)
	}
	perm := fs.FileMode(want.Mode & 0o777)
	if err := os.WriteFile(file, data, perm&0o700); err != nil {
		return err
	}
	info, err := os.Lstat(file)
	if err != nil || info.Mode().Perm() == perm {
		return err
	}
	return w.s.metadata(name, os.Chmod(file, perm)) // the umask has removed permissions
}

// metadata reports a refused change of metadata, which some file systems allow to nobody, as a
// warning. It returns other errors.
func (s *worktree) metadata(name string, err error) error {
	if err == nil || fsutil.IgnoreRefused(err) != nil {
		return err
	}
	s.repo.Notify("the permissions of %s are not as before: %v", name, err)
	return nil
}

// prepared sets the permissions of a step's prepared file, and returns hash and mode of the file.
func (w *staging) prepared(st *Step) (fileOnDisk, error) {
	pl := w.readyPlace(st.Path)
	info, err := pl.dir.Lstat(pl.name)
	if err != nil {
		return fileOnDisk{}, err
	}
	if perm := w.s.permissions(st, info.Mode().Perm()); info.Mode().IsRegular() && perm != info.Mode().Perm() {
		if err := w.s.metadata(st.Path, pl.dir.Chmod(pl.name, perm)); err != nil {
			return fileOnDisk{}, err
		}
	}
	d, _, err := readDisk(pl, false)
	return d, err
}

// permissions returns the permissions of a restored file, which git has created with made. The file
// keeps those of the file that it replaces, except for the executable bits. A new file, and one that
// replaces an unreadable file, has no permission that the save did not find.
func (s *worktree) permissions(st *Step, made fs.FileMode) fs.FileMode {
	const exec, read = 0o111, 0o444
	was := fs.FileMode(st.Before.Disk.Mode & 0o777)
	switch {
	case st.After.Disk.Mode != 0: // the step of a killed restore
		return fs.FileMode(st.After.Disk.Mode & 0o777)
	case st.Before.Disk.Mode == 0 || st.Before.Disk.Mode == trees.ModeSymlink || was&0o400 == 0:
		if saved, ok := s.modes[st.Path]; ok {
			made &= saved | 0o400
		}
		return made
	case !s.configBool("core.filemode", true), made&exec != 0 == (was&exec != 0):
		return was
	case made&exec != 0:
		return was | was&read>>2
	}
	return was &^ exec
}
