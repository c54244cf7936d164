// Package index reads git's index (staging area) and builds the same tree as `git
// write-tree`. It never writes an index.
//
// File format, with big-endian numbers:
//
//	index     = "DIRC" version:4 count:4 *entry *extension checksum:20
//	entry     = ctime:8 mtime:8 dev:4 ino:4 mode:4 uid:4 gid:4 size:4
//	            hash:20 flags:2 [more:2] name
//	flags     = assume-valid:1 extended:1 stage:2 length:12
//	more      = reserved:1 skip-worktree:1 intent-to-add:1 unused:13
//	name      = path 1*8 NUL            ; versions 2 and 3: entry size is a multiple of 8
//	          / strip:varint suffix NUL ; version 4: bytes to remove from previous path, suffix
//	extension = signature:4 size:4 data ; unknown: optional if it begins with A to Z
//	TREE      = node ; in pre-order, children follow their parent
//	node      = path-component NUL entries SP children LF [hash:20]
//
// Length is 0xfff for names of at least that length, which end at their NUL. A node with
// -1 entries has no hash: the directory has changed since git last wrote its tree.
//
// An index of 100,000 entries has 9 MB. This package maps the file if the system supports
// that, walks all entry lengths once, and reads only requested paths. Like git, it does
// not verify the checksum, which is zero with index.skipHash. Instead, each offset is
// checked before use, so that a damaged file causes an error. Changes of a mapped file by
// another program cause an error too.
//
// Three forms of index are left to git: a split index, whose entries are in a second
// file; a sparse index, with directories as entries; and an index with unknown mandatory
// extensions. For these, Open returns ErrUnsupported, and Plain runs git to make a copy
// in full form.
//
// The rows save and turn of testdata/bench pay for this package: go-git decodes the index more than
// ten times slower, and git write-tree rewrites it.
package index

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
	"unsafe"

	"github.com/go-git/go-git/v5/plumbing"
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
	// Fetch fetches a missing file of a partial clone, and may fetch others. It may be nil.
	Fetch func(missing plumbing.Hash) error
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

// guard runs f, which reads the mapping. It returns ErrChanged if the file was truncated,
// which causes a fault, or rewritten in place.
func (x *Index) guard(f func() error) (err error) {
	if x.mapping == nil {
		return f()
	}
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			if !x.faulted(r) {
				panic(r)
			}
			err = ErrChanged
		}
	}()
	err = f()
	if x.rewritten() {
		return ErrChanged
	}
	return err
}

// faulted reports whether a panic is a memory fault within the mapping.
func (x *Index) faulted(r any) bool {
	e, ok := r.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok {
		return false
	}
	base := uintptr(unsafe.Pointer(unsafe.SliceData(x.mapping)))
	return e.Addr() >= base && e.Addr()-base < uintptr(len(x.mapping))
}

// rewritten reports whether the mapped file has changed its size or date since it was
// opened. If git replaced the path, the open file is unchanged.
func (x *Index) rewritten() bool {
	if x.file == nil {
		return false
	}
	now, err := x.file.Stat()
	return err != nil || now.Size() != x.stat.Size() || !now.ModTime().Equal(x.stat.ModTime())
}

// Git runs git with additional environment variables and returns its stdout.
type Git func(ctx context.Context, env []string, args ...string) ([]byte, error)

// quietArgs make git run no hook and no file system monitor. An empty core.fsmonitor is off, also
// in git versions that expect a path.
var quietArgs = []string{"-c", "core.fsmonitor=", "-c", "core.hooksPath=" + os.DevNull}

// plainArgs make git rewrite the index in full form, without hints. The setting core.splitIndex
// must agree with the option, else git prints a warning.
var plainArgs = slices.Concat(quietArgs, []string{
	"-c", "core.splitIndex=false",
	"-c", "index.sparse=false",
	"-c", "advice.sparseIndexExpanded=false",
	"update-index", "--no-split-index", "--force-write-index",
})

// Plain opens a copy of the index at path that git has converted to full form in tempDir.
// git must run in the repository of the index, which contains the shared part of a split
// index. The original index is not changed. The returned function closes and deletes the
// copy.
func Plain(ctx context.Context, git Git, path, tempDir string) (*Index, func(), error) {
	copied, modTime, err := copyTemp(path, tempDir)
	if err != nil {
		return nil, nil, fmt.Errorf("copy index: %s: %w", path, err)
	}
	remove := func() {
		os.Remove(copied)
		os.Remove(copied + ".lock") // lock file of a killed git
	}
	var x *Index
	if _, err = git(ctx, []string{"GIT_INDEX_FILE=" + copied}, plainArgs...); err == nil {
		x, err = open(copied, mapThreshold)
	}
	if err != nil {
		remove()
		return nil, nil, fmt.Errorf("read index through git: %s: %w", path, err)
	}
	x.path, x.modTime = path, modTime
	return x, func() { x.Close(); remove() }, nil
}

// FetchMissing makes git fetch the missing files of the index at path from the promisor remote, in
// one request, as git write-tree does. Git changes a copy of the index in tempDir.
func FetchMissing(ctx context.Context, git Git, path, tempDir string) error {
	copied, _, err := copyTemp(path, tempDir)
	if err != nil {
		return fmt.Errorf("copy index: %s: %w", path, err)
	}
	defer os.Remove(copied)
	defer os.Remove(copied + ".lock") // lock file of a killed git
	_, err = git(ctx, []string{"GIT_INDEX_FILE=" + copied}, slices.Concat(quietArgs, []string{"write-tree"})...)
	return err
}

// copyTemp copies a file to a new file in dir with an absolute path and the same
// modification time. Git compares file times with it to detect racy entries.
func copyTemp(path, dir string) (_ string, modTime time.Time, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return "", time.Time{}, err
	}
	stat, err := os.Stat(path)
	if err != nil {
		return "", time.Time{}, bare(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", time.Time{}, bare(err)
	}
	f, err := os.CreateTemp(dir, fmt.Sprintf("index-%d-*", os.Getpid()))
	if err != nil {
		return "", time.Time{}, err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close(), os.Chtimes(f.Name(), time.Time{}, stat.ModTime()))
	if err != nil {
		os.Remove(f.Name())
		return "", time.Time{}, err
	}
	return f.Name(), stat.ModTime(), nil
}
