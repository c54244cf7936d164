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
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/layout"
)

// A Tree gives access to files below a root directory and rejects paths outside.
type Tree struct {
	root *os.Root
	max  int64 // maximum file size in bytes
}

// Open opens the tree at root. Files larger than max bytes are not read.
func Open(root string, max int64) (*Tree, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("mirror: %w", err)
	}
	return &Tree{r, max}, nil
}

// Close closes the root directory.
func (t *Tree) Close() { t.root.Close() }

// A ChangedFile is a file that changed since the recorded state: its content, or the read
// error.
type ChangedFile struct {
	Path string
	Data []byte
	Err  error
}

// Limits on searched files and directories.
const (
	maxFiles = 10_000
	maxDirs  = 1000
)

// Changed returns files that differ from the state in the directories that match pattern.
// The pattern is a slash-separated path with wildcards {issue} and {issue_number}. skip
// excludes names. Deleted files are not returned, because a later write restores them.
func (t *Tree) Changed(s *State, pattern string, skip func(name string) bool) ([]ChangedFile, error) {
	var found []ChangedFile
	folders, err := t.folders(pattern)
	if err != nil {
		err = fmt.Errorf("mirror: %w", err)
	}
	for _, folder := range folders {
		entries, readErr := fs.ReadDir(t.root.FS(), folder)
		if readErr != nil {
			return found, fmt.Errorf("mirror: %w", readErr)
		}
		if len(entries) > maxFiles {
			return found, fmt.Errorf("mirror: %s: more than %d files", folder, maxFiles)
		}
		for _, e := range entries {
			name := path.Join(folder, e.Name())
			if e.IsDir() || skip(name) {
				continue
			}
			data, err := t.Read(name)
			if was, known := s.Files[name]; errors.Is(err, fs.ErrNotExist) || err == nil && known && Sum(data) == was.Sum {
				continue
			}
			found = append(found, ChangedFile{name, data, err})
			if len(found) > maxFiles {
				return found, fmt.Errorf("mirror: %s: more than %d files", folder, maxFiles)
			}
		}
	}
	return found, err
}

// Exists reports whether a file or a directory exists at name.
func (t *Tree) Exists(name string) bool {
	_, err := t.root.Lstat(name)
	return err == nil
}

// Read returns the content of a regular file.
func (t *Tree) Read(name string) ([]byte, error) {
	info, err := t.root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > t.max:
		return nil, fmt.Errorf("%d bytes, more than the limit of %d", info.Size(), t.max)
	}
	return t.root.ReadFile(name)
}

// Took records a file's content and owner in the state.
func (s *State) Took(f ChangedFile, owner, key string) {
	s.Files[f.Path] = FileState{Owner: owner, Key: key, Sum: Sum(f.Data)}
}

// errChanged reports that a file differs from the recorded state and was left unchanged.
var errChanged = errors.New("changed since it was last read")

// Put writes an owner's file unless another program has changed it. If mine reports a
// generated view, Put replaces the file regardless of changes.
func (t *Tree) Put(s *State, name string, want layout.Output, owner, key string, mine func(data []byte) bool) error {
	if err := t.plain(path.Dir(name)); err != nil {
		return err
	}
	if want.Link != "" {
		return t.putLink(s, name, want, owner)
	}
	switch data, err := t.Read(name); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && bytes.Equal(data, want.Data):
	case err == nil && Sum(data) != s.Files[name].Sum && !mine(data):
		return errChanged
	default:
		if err := Replace(t.root, name, want); err != nil {
			return err
		}
	}
	s.Took(ChangedFile{Path: name, Data: want.Data}, owner, key)
	return nil
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
		err = fsutil.IgnoreRefused(dir.Chmod(temp, was.Mode().Perm()))
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return err
}

// folders returns existing directories that match pattern. It returns an error if a directory above
// the placeholder is a symlink.
func (t *Tree) folders(pattern string) ([]string, error) {
	pattern = path.Clean(pattern)
	fixed, after, open := strings.Cut(strings.Replace(pattern, "{issue_number}", "{issue}", 1), "{issue}")
	if !open {
		if !t.Exists(pattern) {
			return nil, t.plain(path.Dir(pattern))
		}
		return []string{pattern}, t.plain(pattern)
	}
	if err := t.plain(path.Dir(fixed + "x")); err != nil {
		return nil, err
	}
	literal := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)
	found, err := fs.Glob(t.root.FS(), literal.Replace(fixed)+"*"+literal.Replace(after))
	if err != nil || len(found) > maxDirs {
		return nil, fmt.Errorf("%s: more than %d directories", pattern, maxDirs)
	}
	var folders []string
	for _, dir := range found {
		if t.plain(dir) == nil { // neither a file nor behind a symlink
			folders = append(folders, dir)
		}
	}
	return folders, nil
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
		return errChanged
	}
	if err := Replace(t.root, name, want); err != nil {
		return err
	}
	s.Files[name] = FileState{Owner: owner}
	return nil
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
	data, err := t.Read(name)
	if err != nil {
		return err
	}
	if Sum(data) != known.Sum {
		return errChanged
	}
	return t.root.Remove(name)
}

// removeStale removes temporary files of killed processes.
func removeStale(dir *os.Root, name string) {
	entries, _ := fs.ReadDir(dir.FS(), path.Dir(name))
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), "."+path.Base(name)+".")
		number, temp := strings.CutSuffix(rest, ".tmp")
		pid, err := strconv.Atoi(number)
		if ours && temp && err == nil && !fsutil.IsRunning(pid) {
			_ = dir.Remove(path.Join(path.Dir(name), e.Name()))
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
	return errors.Join(err, fsutil.Sync(w), w.Close())
}
