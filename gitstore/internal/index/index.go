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
	// ErrUnsupported reports an index in a form that only git reads, see Plain.
	ErrUnsupported = errors.New("a form of index that only git reads")
	// ErrChanged reports that another program changed or truncated the index in place
	// during a read. Git replaces the file instead.
	ErrChanged = errors.New("changed in place while it was read")
)

// A FormatError reports a damaged index.
type FormatError struct {
	Offset int // in bytes
	Msg    string
}

func (e *FormatError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Msg) }

// maxRead is the size of an index with twelve million entries.
const maxRead = 1 << 30

// An Index is an open index file. It is not safe for concurrent use.
type Index struct {
	// Partial marks a partial clone: like git, WriteTree then does not check the contents
	// of skip-worktree entries.
	Partial bool
	// Base is a tree that WriteTree may assume to be complete.
	Base Base

	path    string
	file    *os.File    // open while the file is mapped
	stat    fs.FileInfo // stat of the mapped file
	modTime time.Time
	mapping []byte
	form
	err error
}

// Open reads the index at path. A missing file is an empty index. Open returns
// ErrUnsupported if Plain has to convert the index, and a *FormatError if the index is
// damaged. Only All, Lookup and WriteTree check paths. The caller must call Close.
func Open(path string) (*Index, error) {
	x, err := open(path, mapThreshold)
	if err != nil {
		return nil, fmt.Errorf("read index: %s: %w", path, err)
	}
	return x, nil
}

// open maps files of at least threshold bytes and reads smaller files.
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

// parseMapping parses the mapped file. If the file changes meanwhile, it reads the file
// instead.
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

// read reads and parses the current content of the file.
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

// Close releases the file. Entries from the index remain valid.
func (x *Index) Close() error {
	err := x.unmap()
	x.form = form{}
	if x.file != nil {
		err = errors.Join(err, x.file.Close())
		x.file = nil
	}
	return err
}

// Len returns the number of entries, including all stages.
func (x *Index) Len() int { return x.count }

// ModTime returns the modification time of the index, zero if the file is missing. If an
// entry's MTime is not earlier, its file may have changed with equal stat data.
func (x *Index) ModTime() time.Time { return x.modTime }

// Err returns the error that ended All or Lookup early, or nil.
func (x *Index) Err() error { return x.err }

// bare removes operation and path from errors of package os, because Open adds both.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
