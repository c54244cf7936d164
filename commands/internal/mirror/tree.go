package mirror

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Limits on searched files and directories.
const (
	maxFiles = 10_000
	maxDirs  = 1000
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
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		f.Err = err
		return f
	case !info.Mode().IsRegular():
		f.Err = errors.New("not a file of its own")
		return f
	case info.Size() > t.max:
		f.Err = fmt.Errorf("%d bytes, more than the limit of %d", info.Size(), t.max)
		return f
	case there && s.untouched(known, info):
		return nil
	}
	if f.Data, f.info, f.Err = t.read(name); f.Err == nil && there && Sum(f.Data) == known.Sum {
		s.seen(name, known, f.info)
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
		return nil, nil, errors.New("not a file of its own")
	}
	data, err := io.ReadAll(io.LimitReader(f, t.max+1))
	if err == nil && int64(len(data)) > t.max {
		err = fmt.Errorf("more than the limit of %d bytes", t.max)
	}
	return data, info, err
}

// Has reports whether a regular file exists at name.
func (t *Tree) Has(name string) bool {
	info, err := t.root.Lstat(name)
	return err == nil && info.Mode().IsRegular()
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
