package mirror

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
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

	info fs.FileInfo
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
	for _, folder := range folders {
		entries, readErr := t.entries(folder)
		if readErr != nil {
			return found, readErr
		}
		for _, e := range entries {
			name := path.Join(folder, e.Name())
			if e.IsDir() || skip(name) {
				continue
			}
			if f := t.look(s, name); f != nil {
				found = append(found, *f)
			}
			if len(found) > maxFiles {
				return found, fmt.Errorf("mirror: %s: more than %d files", folder, maxFiles)
			}
		}
	}
	return found, err
}

// Has reports whether a regular file exists at name.
func (t *Tree) Has(name string) bool {
	info, err := t.root.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// Exists reports whether a file or a directory exists at name.
func (t *Tree) Exists(name string) bool {
	_, err := t.root.Lstat(name)
	return err == nil
}

// Read returns the content of a regular file.
func (t *Tree) Read(name string) ([]byte, error) {
	data, _, err := t.now(name)
	return data, err
}

// Took records a file's content, attributes and owner in the state.
func (s *State) Took(f ChangedFile, owner, key string) {
	e := FileState{Owner: owner, Key: key, Sum: Sum(f.Data), Size: int64(len(f.Data))}
	if f.info != nil {
		e.Time, e.place = f.info.ModTime().UnixNano(), placeOf(f.info)
	}
	s.Files[f.Path] = e
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
	data, info, err := t.now(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case bytes.Equal(data, want.Data):
		s.Took(ChangedFile{Path: name, Data: data, info: info}, owner, key)
		return nil
	case Sum(data) != s.Files[name].Sum && !mine(data):
		return errChanged
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

// folders returns existing directories that match pattern.
func (t *Tree) folders(pattern string) ([]string, error) {
	found := []string{"."}
	for part := range strings.SplitSeq(path.Clean(pattern), "/") {
		var below []string
		for _, dir := range found {
			names, err := t.children(dir, part)
			if err != nil {
				return nil, err
			}
			below = append(below, names...)
		}
		if found = below; len(found) > maxDirs {
			return nil, fmt.Errorf("mirror: %s: more than %d directories", pattern, maxDirs)
		}
	}
	return found, nil
}

// children returns the directories in dir that match one path component of a pattern.
func (t *Tree) children(dir, part string) ([]string, error) {
	before, after, open := cutPlaceholder(part)
	if !open {
		name := path.Join(dir, part)
		switch info, err := t.root.Lstat(name); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("mirror: %w", err)
		case !info.IsDir():
			return nil, fmt.Errorf("mirror: %s: not a directory of its own", name)
		}
		return []string{name}, nil
	}
	entries, err := t.entries(dir)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		if e.IsDir() && len(e.Name()) > len(before)+len(after) && strings.HasPrefix(e.Name(), before) && strings.HasSuffix(e.Name(), after) {
			found = append(found, path.Join(dir, e.Name()))
		}
	}
	return found, nil
}

// cutPlaceholder splits a path component around its placeholder.
func cutPlaceholder(part string) (before, after string, found bool) {
	for _, p := range []string{"{issue}", "{issue_number}"} {
		if before, after, found = strings.Cut(part, p); found {
			return before, after, true
		}
	}
	return "", "", false
}

func (t *Tree) entries(dir string) ([]fs.DirEntry, error) {
	f, err := t.root.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil, fmt.Errorf("mirror: %w", err)
	}
	defer f.Close()
	entries, err := f.ReadDir(maxFiles + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("mirror: %w", err)
	}
	if len(entries) > maxFiles {
		return nil, fmt.Errorf("mirror: %s: more than %d files", dir, maxFiles)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// look returns a changed file, or nil if the file equals the recorded state.
func (t *Tree) look(s *State, name string) *ChangedFile {
	f := &ChangedFile{Path: name}
	known, there := s.Files[name]
	info, err := t.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && there && s.untouched(known, info) {
		return nil
	}
	if f.Data, f.info, f.Err = t.now(name); f.Err == nil && there && Sum(f.Data) == known.Sum {
		known.Size, known.Time, known.place = f.info.Size(), f.info.ModTime().UnixNano(), placeOf(f.info)
		s.Files[name] = known
		return nil
	}
	return f
}

// read returns a file's content and attributes.
func (t *Tree) read(name string) ([]byte, fs.FileInfo, error) {
	f, err := t.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errors.New("not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, t.max+1))
	if err == nil && int64(len(data)) > t.max {
		err = fmt.Errorf("more than the limit of %d bytes", t.max)
	}
	return data, info, err
}

// now returns the current content of a regular file.
func (t *Tree) now(name string) ([]byte, fs.FileInfo, error) {
	info, err := t.root.Lstat(name)
	switch {
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, errors.New("not a regular file")
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
	data, _, err := t.now(name)
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
		if ours && temp && err == nil && !fsutil.IsRunning(pid) {
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
	return errors.Join(err, fsutil.Sync(w), w.Close())
}
