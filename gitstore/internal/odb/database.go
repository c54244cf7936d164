// Package odb reads and writes the objects of a repository.
//
// Reading: an object of the objects directory that has a file of its own is read from it:
//
//	ab/cdef...            zlib("<type> <size>" NUL content)
//
// Git reads all others, those in packs and in alternates, in one git cat-file that runs until
// Close. Values from a hostile or damaged file are checked before use. Damage causes an error,
// never a panic. Memory use is bounded by the bytes that the file contains, and by 512 MiB per
// object.
//
// Writing: a Batch collects the objects of one operation, and writes them as loose objects that
// survive a power failure, or many of them as one pack with git index-pack.
//
// The rows save and list of testdata/bench pay for the reader of loose objects: a git process
// costs more than reading the few objects that most commands need.
package odb

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
)

// ErrTooLarge is returned for an object that exceeds the memory limit of this package.
var ErrTooLarge = errors.New("object is too large")

// maxObject is the maximum size of an object that is read into memory. It equals the size
// above which git makes no deltas (core.bigFileThreshold).
const maxObject = 512 << 20

// maxCommit is the maximum size of commits and tags. A chain is read in one go, and a
// repetitive message takes a thousandth of its size on disk.
const maxCommit = 8 << 20

// Config is the configuration of a Database.
type Config struct {
	// Dir is the objects directory (GIT_OBJECT_DIRECTORY or <git dir>/objects).
	Dir string
	// Git is git in the repository, with its alternates.
	Git git.Git
	// Shared contains the permission bits of core.sharedRepository that new files and
	// directories get in addition to the umask. Zero adds no bits.
	Shared os.FileMode
	// SharedExact makes Shared replace the permission bits, as for an octal
	// core.sharedRepository.
	SharedExact bool
	// Fetch runs git to read an object that a partial clone lacks; git may contact a remote.
	// It is nil in a repository that is no partial clone.
	Fetch func(ctx context.Context, stdin []byte, args ...string) ([]byte, error)
}

// A Database reads and writes the objects of a repository. Concurrent use is safe.
type Database struct {
	cfg     Config
	cat     catFile
	missing missing

	kept     sync.Map // packed commits and trees, and what was read ahead: plumbing.Hash to answer
	keptSize atomic.Int64
	isHeld   atomic.Bool // see Hold

	trace func(step, path string) // called by tests after each step of a flush
}

// Open returns a Database for c.Dir. It reads no files yet; a missing directory is an
// empty database.
func Open(c Config) (*Database, error) {
	if c.Dir == "" {
		return nil, errors.New("open object store: no directory")
	}
	// Git would read a relative path of the directory of objects from its own directory.
	if dir, err := filepath.Abs(c.Dir); err == nil {
		c.Git = c.Git.With("GIT_OBJECT_DIRECTORY=" + dir)
	}
	return &Database{cfg: c, cat: catFile{git: c.Git.With("GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")}}, nil
}

// Read returns type and content of an object. The caller owns the content. Read does not
// verify the hash, except during Hold. If the object does not exist, Read returns plumbing.ErrObjectNotFound.
func (s *Database) Read(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	if kept, isKept := s.kept.Load(h); isKept {
		a := kept.(answer)
		return a.kind, bytes.Clone(a.content), nil
	}
	kind, content, err := readLoose(s.loosePath(h))
	isHeld := s.isHeld.Load()
	keeps := isHeld
	if err != nil {
		var a answer
		a, err = s.ask(forContents, h, err)
		kind, content, keeps = a.kind, a.content, true
	}
	switch size := int64(len(content)); {
	case err != nil:
	case isHeld && plumbing.ComputeHash(kind, content) != h:
		err = ErrHash
	case keeps && kind != plumbing.BlobObject && size < firstPiece:
		s.keep(h, answer{kind, size, bytes.Clone(content)})
	}
	return kind, content, err
}

// Header returns type and size of an object.
func (s *Database) Header(h plumbing.Hash) (plumbing.ObjectType, int64, error) {
	t, size, err := headLoose(s.loosePath(h))
	if err == nil {
		return t, size, nil
	}
	a, err := s.ask(forInfo, h, err)
	return a.kind, a.size, err
}

// ask asks git about an object whose loose file could not be read, and fetches it in a partial clone. A
// damaged file does not hide an intact copy. If there is no copy, ask returns the error of the file.
func (s *Database) ask(q question, h plumbing.Hash, loose error) (answer, error) {
	if errors.Is(loose, ErrTooLarge) {
		return answer{}, loose
	}
	a, err := s.cat.ask(q, h)
	switch {
	case err != nil && !gone(loose):
		err = loose
	case errors.Is(err, plumbing.ErrObjectNotFound) && s.cfg.Fetch != nil:
		return s.fetch(h)
	}
	return a, err
}

// Has reports whether an object is in the database or an alternate. It never contacts a
// remote, so objects that a partial clone has not fetched count as missing.
func (s *Database) Has(h plumbing.Hash) bool {
	if _, isKept := s.kept.Load(h); isKept && s.isHeld.Load() || statLoose(s.loosePath(h)) == nil {
		return true
	}
	_, err := s.cat.ask(forInfo, h)
	return err == nil
}

// JoinAlternates returns the value of GIT_ALTERNATE_OBJECT_DIRECTORIES for directories.
func JoinAlternates(dirs []string) string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	words := make([]string, len(dirs))
	for i, dir := range dirs {
		words[i] = dir
		if strings.Contains(dir, string(os.PathListSeparator)) || strings.HasPrefix(dir, `"`) || strings.HasPrefix(dir, "#") {
			words[i] = `"` + quote.Replace(dir) + `"`
		}
	}
	return strings.Join(words, string(os.PathListSeparator))
}

// ErrHash is the error about an object whose content has another hash.
var ErrHash = errors.New("its content has another hash")

// Check reads an object of any size and compares its content with its hash. It never fetches: an
// object that a partial clone lacks is missing.
func (s *Database) Check(h plumbing.Hash) error {
	_, _, loose := withLoose(s.loosePath(h), func(r *objfile.Reader, _ plumbing.ObjectType, size int64) error {
		if _, err := io.CopyN(io.Discard, r, size); err != nil {
			return unexpected(err)
		}
		if r.Hash() != h {
			return ErrHash
		}
		return nil
	})
	if loose == nil {
		return nil
	}
	a, err := s.cat.ask(forContents, h)
	sum := plumbing.NewHasher(a.kind, a.size)
	if errors.Is(err, ErrTooLarge) {
		err = s.cat.git.Filter(context.Background(), nil, sum, "cat-file", a.kind.String(), h.String())
	} else {
		_, _ = sum.Write(a.content)
	}
	switch {
	case err == nil && sum.Sum() != h:
		return ErrHash
	case err != nil && !gone(loose):
		return loose
	}
	return err
}

// Hold makes reads compare objects with their hashes, and keep commits and trees, until the next
// Hold. Hold(false) ends it.
func (s *Database) Hold(on bool) {
	s.kept.Clear()
	s.keptSize.Store(0)
	s.isHeld.Store(on)
}

// maxKept limits the bytes of the objects that a Database keeps.
const maxKept = 32 << 20

// keep makes later reads of an object wait for no answer.
func (s *Database) keep(h plumbing.Hash, a answer) {
	if s.keptSize.Add(a.size) > maxKept {
		s.kept.Clear()
		s.keptSize.Store(a.size)
	}
	s.kept.Store(h, a)
}

// IsOfSystem reports whether an error comes from the process or the system, and not from the data:
// limits, a file that may not be read, a git that ended for a reason other than a damaged object. An
// object that a partial clone could not fetch is no such error.
func IsOfSystem(err error) bool {
	if errors.As(err, new(*PromisedError)) {
		return false
	}
	for _, of := range []error{errNoAnswer, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, fs.ErrPermission} {
		if errors.Is(err, of) {
			return true
		}
	}
	failed, ok := errors.AsType[*git.CommandError](err)
	return ok && !damage.MatchString(failed.Stderr)
}

var errNoAnswer = errors.New("git cat-file ended without an answer")

// damage matches what git prints about a damaged object: "packed object <id> (stored in <file>) is
// corrupt", "inflate: data stream error", "unable to unpack <id> header", "bad packed object CRC".
var damage = regexp.MustCompile(`corrupt|inflate|unpack|bad (packed )?object|garbage|missing`)

// minIndex is the size of the index of a pack without objects: header, table of 256 counts, and two
// hashes.
const minIndex = 8 + 4*256 + 2*20

// Hidden returns why objects that are not found can be intact: a folder of objects, a pack or its index
// cannot be opened or is missing, or an alternate is missing. It returns nil if every place was looked at.
func Hidden(dirs []string) error {
	for _, dir := range dirs {
		places := []string{dir}
		for _, pattern := range []string{"[0-9a-f][0-9a-f]", "pack", "pack/*"} {
			found, _ := fs.Glob(os.DirFS(dir), pattern)
			for _, name := range found {
				places = append(places, filepath.Join(dir, name))
				switch base, ext := strings.TrimSuffix(name, path.Ext(name)), path.Ext(name); ext {
				case ".idx":
					places = append(places, filepath.Join(dir, base+".pack"))
				case ".pack":
					places = append(places, filepath.Join(dir, base+".idx"))
				}
			}
		}
		alternates, _ := os.ReadFile(filepath.Join(dir, "info", "alternates"))
		for _, place := range strings.FieldsFunc(string(alternates), func(r rune) bool { return r == '\n' }) {
			switch {
			case strings.ContainsAny(place[:1], `#"`): // a comment, or a quoted name
			case filepath.IsAbs(place):
				places = append(places, place)
			default:
				places = append(places, filepath.Join(dir, place))
			}
		}
		for _, place := range places {
			f, err := os.Open(place)
			if err != nil {
				return err
			}
			info, err := f.Stat()
			f.Close()
			if err != nil || path.Ext(place) == ".idx" && info.Size() < minIndex {
				return cmp.Or(err, fmt.Errorf("%s is cut off: git index-pack makes it again from its pack", place))
			}
		}
	}
	return nil
}
