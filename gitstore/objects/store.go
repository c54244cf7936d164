package objects

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrClosed is returned by every read of a store that has been closed.
var ErrClosed = errors.New("object store is closed")

// ErrTooLarge is returned for an object that is larger than the store is
// willing to hold in memory.
var ErrTooLarge = errors.New("object is too large")

// maxObject is the size above which an object is not read into memory. It is
// the size above which git stops making deltas (core.bigFileThreshold).
const maxObject = 512 << 20

// maxCommit is the same for commits and tags: a chain is read in one go, and a
// message of the same letter is a thousandth of its size where it is stored.
const maxCommit = 8 << 20

// mostOf is how large an object of a kind may be.
func mostOf(t plumbing.ObjectType) int64 {
	if t == plumbing.CommitObject || t == plumbing.TagObject {
		return maxCommit
	}
	return maxObject
}

// GitFunc runs git with args and stdin and returns what it printed.
type GitFunc = func(ctx context.Context, stdin []byte, args ...string) ([]byte, error)

// Config says where the objects are and how new ones are made.
type Config struct {
	// Dir is the objects directory (GIT_OBJECT_DIRECTORY or <git dir>/objects).
	Dir string
	// Alternates are the directories of GIT_ALTERNATE_OBJECT_DIRECTORIES.
	// Those of info/alternates are found by the store itself.
	Alternates []string
	// Shared holds the permission bits of core.sharedRepository that new
	// files and directories get in addition, 0 for the umask alone.
	Shared os.FileMode
	// SharedExact makes Shared replace the bits, as an octal value of
	// core.sharedRepository does.
	SharedExact bool
	// Git runs git, for FlushPack and for objects of a partial clone. It may
	// be nil when neither is needed.
	Git GitFunc
	// Fetch runs git for an object of a partial clone that is missing: git may
	// ask a remote. Nil stands for Git.
	Fetch GitFunc
	// SyncEach syncs every file even where the journal of the file system is
	// known to be ordered, as core.fsyncMethod=fsync asks for.
	SyncEach bool
	// Promisor says that the repository is a partial clone: Read asks git for
	// an object that is missing, and git may fetch it.
	Promisor bool
}

// Database reads and writes the objects of one repository. It is safe for
// concurrent use.
type Database struct {
	cfg     Config
	open    sync.Once
	sources []*source
	recent  atomic.Pointer[pack]
	cache   baseCache
	missing missing
	journal sync.Once
	inOrder bool // see ordered

	life   sync.RWMutex
	closed bool

	trace func(step, path string) // tests: called after each step of a flush
}

// Open returns the store over c.Dir. Nothing is read before it is needed, so
// a directory that is missing shows as an empty store.
func Open(c Config) (*Database, error) {
	if c.Dir == "" {
		return nil, errors.New("open object store: no directory")
	}
	return &Database{cfg: c}, nil
}

// Close releases the files of the store. Reads that are under way finish
// first, later ones fail with ErrClosed.
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

// Read returns the type and the content of an object, which is the caller's
// to keep. It fails with plumbing.ErrObjectNotFound when there is none. The
// content is not checked against the hash.
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

// Header returns the type and the size of an object without its content.
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

// Size returns the size of an object's content.
func (s *Database) Size(h plumbing.Hash) (int64, error) {
	_, size, err := s.Header(h)
	return size, err
}

// Has reports whether an object is in the store or one of its alternates. It
// never asks a remote: what a partial clone has not fetched is not there.
func (s *Database) Has(h plumbing.Hash) bool {
	return s.lookup(h, func(f found) error { return f.exists() }) == nil
}

// InOrder reports whether one sync of a directory on the file system of f, later
// on, stands for all that a flush has done until then.
func (s *Database) InOrder(f *os.File) bool { return s.ordered() && onDevice(f, s.cfg.Dir) }

// ordered reports whether one sync stands for all that was done before it.
func (s *Database) ordered() bool {
	s.journal.Do(func() { s.inOrder = !s.cfg.SyncEach && orderedFS(s.cfg.Dir) })
	return s.inOrder
}
