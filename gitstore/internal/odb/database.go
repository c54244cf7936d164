// Package odb reads and writes git's object database with the same guarantees as git.
//
// Reading: an objects directory contains loose objects
//
//	ab/cdef...            zlib("<type> <size>" NUL content)
//
// and packs, each with an index:
//
//	pack/*.idx            names and offsets, see pack.go
//	pack/*.pack           whole objects and deltas, see packentry.go
//
// The file info/alternates may name other objects directories. Index and pack files are
// memory-mapped and searched in place, so the cost of a read does not grow with the
// repository. Values from a hostile or damaged file are checked before use. Damage causes
// an error, never a panic. Memory use is bounded by the bytes that the file contains, and
// by 512 MiB per object.
//
// Writing: a Batch collects the objects of one operation. Flush writes loose objects that
// survive a power failure. Like git, Flush freshens existing objects, so that a
// concurrent gc does not delete them. FlushPack writes many objects as one pack with git
// index-pack. Consolidate packs loose objects of earlier batches.
//
// The rows save, turn and list-packed of testdata/bench pay for this package: git needs a process
// for each question, and go-git reads the whole index of each pack.
package odb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrClosed is returned by reads after Close.
var ErrClosed = errors.New("object store is closed")

// ErrTooLarge is returned for an object that exceeds the memory limit of this package.
var ErrTooLarge = errors.New("object is too large")

// maxObject is the maximum size of an object that is read into memory. It equals the size
// above which git makes no deltas (core.bigFileThreshold).
const maxObject = 512 << 20

// maxCommit is the maximum size of commits and tags. A chain is read in one go, and a
// repetitive message takes a thousandth of its size on disk.
const maxCommit = 8 << 20

// mostOf returns the maximum object size for type t.
func mostOf(t plumbing.ObjectType) int64 {
	if t == plumbing.CommitObject || t == plumbing.TagObject {
		return maxCommit
	}
	return maxObject
}

// GitFunc runs git with args and stdin and returns its output.
type GitFunc = func(ctx context.Context, stdin []byte, args ...string) ([]byte, error)

// Config is the configuration of a Database.
type Config struct {
	// Dir is the objects directory (GIT_OBJECT_DIRECTORY or <git dir>/objects).
	Dir string
	// Alternates are the directories of GIT_ALTERNATE_OBJECT_DIRECTORIES. The database
	// itself reads info/alternates.
	Alternates []string
	// Shared contains the permission bits of core.sharedRepository that new files and
	// directories get in addition to the umask. Zero adds no bits.
	Shared os.FileMode
	// SharedExact makes Shared replace the permission bits, as for an octal
	// core.sharedRepository.
	SharedExact bool
	// Git runs git for FlushPack and for missing objects of a partial clone. It may be
	// nil if the caller needs neither.
	Git GitFunc
	// Fetch runs git to read a missing object of a partial clone; git may contact a
	// remote. If Fetch is nil, Git is used.
	Fetch GitFunc
	// SyncEach forces fsync of each file, also in an ordered journal, as
	// core.fsyncMethod=fsync requires.
	SyncEach bool
	// Promisor marks a partial clone: Read runs git for missing objects, and git may
	// fetch them.
	Promisor bool
}

// A Database reads and writes the objects of a repository. Concurrent use is safe.
type Database struct {
	cfg     Config
	open    sync.Once
	sources []*source
	recent  atomic.Pointer[pack]
	cache   baseCache
	missing missing
	journal sync.Once
	inOrder bool // result of ordered

	life   sync.RWMutex
	closed bool

	trace func(step, path string) // called by tests after each step of a flush
}

// Open returns a Database for c.Dir. It reads no files yet; a missing directory is an
// empty database.
func Open(c Config) (*Database, error) {
	if c.Dir == "" {
		return nil, errors.New("open object store: no directory")
	}
	return &Database{cfg: c}, nil
}

// Close closes the files of the database. It waits for running reads. Later reads fail
// with ErrClosed.
func (s *Database) Close() error {
	s.life.Lock()
	defer s.life.Unlock()
	s.closed = true
	for _, src := range s.sources {
		src.close()
	}
	s.recent.Store(nil)
	return nil
}

// Read returns type and content of an object. The caller owns the content. Read does not
// verify the hash. If the object does not exist, Read returns plumbing.ErrObjectNotFound.
func (s *Database) Read(h plumbing.Hash) (t plumbing.ObjectType, content []byte, err error) {
	err = s.lookup(h, func(f found) (err error) {
		t, content, err = f.read(&s.cache)
		return err
	})
	if errors.Is(err, plumbing.ErrObjectNotFound) && s.cfg.Promisor {
		return s.fetch(h)
	}
	return t, content, err
}

// Header returns type and size of an object.
func (s *Database) Header(h plumbing.Hash) (t plumbing.ObjectType, size int64, err error) {
	err = s.lookup(h, func(f found) (err error) {
		t, size, err = f.header()
		return err
	})
	if errors.Is(err, plumbing.ErrObjectNotFound) && s.cfg.Promisor {
		var content []byte
		t, content, err = s.fetch(h)
		size = int64(len(content))
	}
	return t, size, err
}

// Size returns the content size of an object.
func (s *Database) Size(h plumbing.Hash) (int64, error) {
	_, size, err := s.Header(h)
	return size, err
}

// Has reports whether an object is in the database or an alternate. It never contacts a
// remote, so objects that a partial clone has not fetched count as missing.
func (s *Database) Has(h plumbing.Hash) bool {
	return s.lookup(h, func(f found) error { return f.exists() }) == nil
}

// HasLoose reports whether the objects directory has a loose file of an object.
func (s *Database) HasLoose(h plumbing.Hash) bool { return statLoose(s.loosePath(h)) == nil }

// InOrder reports whether one later sync of a directory on the file system of f commits
// all earlier changes of a flush.
func (s *Database) InOrder(f *os.File) bool { return s.ordered() && onDevice(f, s.cfg.Dir) }

// ordered reports whether one sync commits all earlier changes.
func (s *Database) ordered() bool {
	s.journal.Do(func() { s.inOrder = !s.cfg.SyncEach && orderedFS(s.cfg.Dir) })
	return s.inOrder
}

// A found is a possible location of an object: in a pack, or loose if pack is nil.
type found struct {
	hash plumbing.Hash
	src  *source
	pack *pack
	off  int64
}

// lookup calls try with each location of an object until a call returns nil, so that a
// damaged copy does not hide an intact copy. Like git, lookup searches packs before loose
// objects. If no location works, lookup lists the packs again, because a concurrent
// repack may have moved the object.
func (s *Database) lookup(h plumbing.Hash, try func(found) error) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return ErrClosed
	}
	l := lookup{hash: h, try: try}
	if p := s.recent.Load(); p != nil && l.inPack(nil, p) {
		return nil
	}
	sources := s.all()
	if l.in(s, sources) {
		return nil
	}
	moved := false
	for _, src := range sources {
		moved = src.rescan(l.err != nil) || moved
	}
	if moved {
		s.recent.Store(nil) // this pack may be among those removed
		if l.in(s, sources) {
			return nil
		}
	}
	if l.err != nil {
		return fmt.Errorf("object %s: %w", h, l.err)
	}
	return plumbing.ErrObjectNotFound
}

// A lookup is one search. It records the first error.
type lookup struct {
	hash plumbing.Hash
	try  func(found) error
	err  error
}

func (l *lookup) in(s *Database, sources []*source) bool {
	for _, src := range sources {
		for _, p := range src.list() {
			if l.inPack(src, p) {
				s.recent.Store(p)
				return true
			}
		}
	}
	for _, src := range sources {
		if l.attempt(found{hash: l.hash, src: src}) {
			return true
		}
	}
	return false
}

func (l *lookup) inPack(src *source, p *pack) bool {
	off, ok, err := p.find(l.hash)
	if err != nil {
		l.note(err)
		return false
	}
	return ok && l.attempt(found{hash: l.hash, src: src, pack: p, off: off})
}

func (l *lookup) attempt(f found) bool {
	err := l.try(f)
	l.note(err)
	return err == nil
}

// note records an error. It ignores missing files: the object has moved or does not
// exist, and the search finds out.
func (l *lookup) note(err error) {
	if l.err == nil && err != nil && !gone(err) {
		l.err = err
	}
}

func (f found) read(c *baseCache) (t plumbing.ObjectType, content []byte, err error) {
	if f.pack == nil {
		return readLoose(f.src.loosePath(f.hash))
	}
	err = f.inPack(func(r packReader) (err error) {
		t, content, err = r.read(f.off, c)
		return err
	})
	return t, content, err
}

func (f found) header() (t plumbing.ObjectType, size int64, err error) {
	if f.pack == nil {
		return headLoose(f.src.loosePath(f.hash))
	}
	err = f.inPack(func(r packReader) (err error) {
		t, size, err = r.header(f.off)
		return err
	})
	return t, size, err
}

// inPack opens the pack and calls do.
func (f found) inPack(do func(packReader) error) error {
	file, err := f.pack.data()
	if err != nil {
		return err
	}
	x, err := f.pack.index()
	if err != nil {
		return err
	}
	return withPath(f.pack.path+".pack", guard(func() error { return do(packReader{f.pack, x.idx, file}) }))
}

// exists checks that the file with the object exists: the index of a pack can still be open. An empty
// loose file, a remnant of a crash, counts as missing.
func (f found) exists() error {
	if f.pack != nil {
		_, err := f.pack.data()
		return err
	}
	return statLoose(f.src.loosePath(f.hash))
}

// A CorruptObjectError reports a damaged file in the object database.
type CorruptObjectError struct {
	Path string
	Msg  string
}

func (e *CorruptObjectError) Error() string { return e.Path + ": corrupt: " + e.Msg }

// An errFormat is an error of a parser. withPath converts it to a CorruptObjectError.
type errFormat string

func (e errFormat) Error() string { return string(e) }

func formatError(format string, args ...any) error {
	return errFormat(fmt.Sprintf(format, args...))
}

func withPath(path string, err error) error {
	var f errFormat
	if errors.As(err, &f) {
		return &CorruptObjectError{Path: path, Msg: string(f)}
	}
	return err
}

// guard runs f and converts a fault in mapped memory to an error. Such faults occur if
// another program truncates a mapped file, or if its disk fails.
func guard(f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			fault, ok := r.(interface{ Addr() uintptr })
			if !ok {
				panic(r)
			}
			err = formatError("file changed while it was read (fault at %#x)", fault.Addr())
		}
	}()
	return f()
}
