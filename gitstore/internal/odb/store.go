package odb

import (
	"context"
	"errors"
	"os"
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

// InOrder reports whether one later sync of a directory on the file system of f commits
// all earlier changes of a flush.
func (s *Database) InOrder(f *os.File) bool { return s.ordered() && onDevice(f, s.cfg.Dir) }

// ordered reports whether one sync commits all earlier changes.
func (s *Database) ordered() bool {
	s.journal.Do(func() { s.inOrder = !s.cfg.SyncEach && orderedFS(s.cfg.Dir) })
	return s.inOrder
}
