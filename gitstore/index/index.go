package index

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

var (
	// ErrUnsupported is an index in a form that is left to git: see Plain.
	ErrUnsupported = errors.New("a form of index that only git reads")
	// ErrChanged is an index that another program changed in place, or cut
	// short, while it was being read. Git itself never does that.
	ErrChanged = errors.New("changed in place while it was read")
)

// FormatError is an index that is damaged.
type FormatError struct {
	Offset int // in bytes
	Msg    string
}

func (e *FormatError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Msg) }

// maxRead is the size of an index of twelve million entries.
const maxRead = 1 << 30

// Index is an open staging area. It is not safe for concurrent use.
type Index struct {
	// Partial says that the repository is a partial clone: WriteTree then
	// does not ask for the content of skip-worktree entries, as git does not.
	Partial bool
	// Base is a tree that WriteTree may take for complete.
	Base Base

	path    string
	file    *os.File    // open while the file is mapped
	stat    fs.FileInfo // of the mapped file
	modTime time.Time
	mapping []byte
	form
	err error
}

// Open reads the index at path. A missing file is an empty index. The error
// is ErrUnsupported for an index that Plain has to convert, a *FormatError
// for a damaged one. Paths are only checked where they are read, by All,
// Lookup and WriteTree. Close must be called in the end.
func Open(path string) (*Index, error) {
	x, err := open(path, mapThreshold)
	if err != nil {
		return nil, fmt.Errorf("read index: %s: %w", path, err)
	}
	return x, nil
}

// open maps files of at least threshold bytes and reads smaller ones.
func open(path string, threshold int64) (*Index, error) {
	if path == "" {
		return nil, fs.ErrInvalid
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Index{path: path}, nil
	}
	if err != nil {
		return nil, bare(err)
	}
	x := &Index{path: path, file: f}
	if err := x.load(threshold); err != nil {
		x.Close()
		return nil, bare(err)
	}
	return x, nil
}

func (x *Index) load(threshold int64) error {
	stat, err := x.file.Stat()
	if err != nil {
		return err
	}
	x.stat, x.modTime = stat, stat.ModTime()
	if stat.Size() >= threshold && x.mapFile(stat.Size()) == nil {
		return x.parseMapping()
	}
	return x.read()
}

// parseMapping reads the file instead where it changes under the mapping.
func (x *Index) parseMapping() error {
	x.form.relax = x.relax
	err := x.guard(func() error { return x.parse(x.mapping) })
	if !errors.Is(err, ErrChanged) {
		return err
	}
	if err := x.unmap(); err != nil {
		return err
	}
	return x.read()
}

// read takes the file as it is now.
func (x *Index) read() error {
	stat, err := x.file.Stat()
	if err != nil {
		return err
	}
	if stat.Size() > maxRead {
		return fmt.Errorf("%d bytes are too many", stat.Size())
	}
	x.modTime = stat.ModTime()
	data := make([]byte, stat.Size())
	n, err := x.file.ReadAt(data, 0)
	if err != nil && err != io.EOF {
		return err
	}
	x.file.Close()
	x.file = nil
	return x.parse(data[:n])
}

// Close releases the file. Entries that came from the index stay valid.
func (x *Index) Close() error {
	err := x.unmap()
	x.form = form{}
	if x.file != nil {
		err = errors.Join(err, x.file.Close())
		x.file = nil
	}
	return err
}

// Len is the number of entries, all stages counted.
func (x *Index) Len() int { return x.count }

// ModTime is when the file was written last, zero for a missing one. An
// entry whose MTime is not before it may have changed without its stat data
// showing it.
func (x *Index) ModTime() time.Time { return x.modTime }

// Err is what cut All or Lookup short, nil if nothing did.
func (x *Index) Err() error { return x.err }

// bare drops the operation and the path that errors of package os carry,
// because Open names both.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
