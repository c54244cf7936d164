// Package trees reads, compares and writes git's tree objects, and rejects paths that git
// would not check out.
//
// The rows save and restore of testdata/bench pay for this package: go-git asks for each object of
// a tree again, and formats each entry.
package trees

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/odb"

	"github.com/go-git/go-git/v5/plumbing"
)

// File modes in git trees.
const (
	ModeTree    = 0o040000
	ModeFile    = 0o100644
	ModeExec    = 0o100755
	ModeSymlink = 0o120000
	ModeGitlink = 0o160000
)

// ModeOf returns git's mode for a regular file or symlink, 0 for other files.
func ModeOf(info fs.FileInfo) uint32 {
	switch m := info.Mode(); {
	case m.IsRegular() && m&0o100 != 0:
		return ModeExec
	case m.IsRegular():
		return ModeFile
	case m&fs.ModeSymlink != 0:
		return ModeSymlink
	}
	return 0
}

// Empty is the hash of the empty tree; git recognizes the hash without reading an object.
var Empty = plumbing.NewHash(objectformat.EmptyTree)

// An Entry describes a tree object's entry.
type Entry struct {
	Mode uint32
	Name string
	Hash plumbing.Hash
}

// IsTree reports whether the entry is a directory.
func (e Entry) IsTree() bool { return e.Mode == ModeTree }

// Same reports whether two entries have equal modes and hashes.
func (e Entry) Same(o Entry) bool { return e.Mode == o.Mode && e.Hash == o.Hash }

// Parse parses a tree object, a sequence of "<octal mode> <name>\0<id>".
func Parse(data []byte) ([]Entry, error) {
	entries := make([]Entry, 0, len(data)/36)
	for len(data) > 0 {
		space, end := bytes.IndexByte(data, ' '), bytes.IndexByte(data, 0)
		if space < 0 || end < space || len(data) < end+1+objectformat.Size {
			return nil, errors.New("a tree that is cut short")
		}
		mode, err := strconv.ParseUint(string(data[:space]), 8, 32)
		if err != nil {
			return nil, fmt.Errorf("a tree with the mode %q", data[:space])
		}
		id := data[end+1 : end+1+objectformat.Size]
		entries = append(entries, Entry{Mode: uint32(mode), Name: string(data[space+1 : end]), Hash: plumbing.Hash(id)})
		data = data[end+1+objectformat.Size:]
	}
	return entries, nil
}

// Encode returns a tree object. It sorts entries in place in git's order: directories
// sort as if their names ended in a slash.
func Encode(entries []Entry) []byte {
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	data := make([]byte, 0, 48*len(entries))
	for _, e := range entries {
		data = strconv.AppendUint(data, uint64(e.Mode), 8)
		data = append(append(append(data, ' '), e.Name...), 0)
		data = append(data, e.Hash[:]...)
	}
	return data
}

func (e Entry) sortKey() string {
	if e.IsTree() {
		return e.Name + "/"
	}
	return e.Name
}

// Find returns the entry with a name.
func Find(entries []Entry, name string) (Entry, bool) {
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, false
	}
	return entries[i], true
}

// HashOf returns the hash of an entry, or zero if it is missing.
func HashOf(entries []Entry, name string) plumbing.Hash {
	e, _ := Find(entries, name)
	return e.Hash
}

// A Reader reads objects from a database or from pending objects.
type Reader interface {
	Read(plumbing.Hash) (plumbing.ObjectType, []byte, error)
}

// Read returns the entries of a tree. The empty tree needs no object.
func Read(r Reader, hash plumbing.Hash) ([]Entry, error) {
	if hash == Empty || hash.IsZero() {
		return nil, nil
	}
	data, err := ReadAs(r, plumbing.TreeObject, hash)
	if err != nil {
		return nil, err
	}
	entries, err := Parse(data)
	if err != nil {
		return nil, Corrupt("tree "+hash.String(), "%w", err)
	}
	return entries, nil
}

func ReadAs(r Reader, want plumbing.ObjectType, hash plumbing.Hash) ([]byte, error) {
	kind, data, err := r.Read(hash)
	if err != nil {
		return nil, &CorruptError{Object: fmt.Sprintf("%s %s", want, hash), Err: err, Lost: hash}
	}
	if kind != want {
		return nil, Corrupt(hash.String(), "want a %s, got a %s", want, kind)
	}
	return data, nil
}

// A Finder looks up paths in trees and caches parsed trees. A Finder is not safe for concurrent use.
type Finder struct {
	Reader Reader

	read map[plumbing.Hash][]Entry // sorted by name: a large directory is searched thousands of times
}

func (f *Finder) directory(tree plumbing.Hash) ([]Entry, error) {
	entries, known := f.read[tree]
	if known {
		return entries, nil
	}
	entries, err := Read(f.Reader, tree)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	if f.read == nil {
		f.read = map[plumbing.Hash][]Entry{}
	}
	f.read[tree] = entries
	return entries, nil
}

// Lookup returns mode and hash of a path below tree, or a zero hash if no such path
// exists.
func (f *Finder) Lookup(tree plumbing.Hash, path string) (uint32, plumbing.Hash, error) {
	for {
		name, rest, deeper := strings.Cut(path, "/")
		entries, err := f.directory(tree)
		if err != nil {
			return 0, plumbing.ZeroHash, err
		}
		i, ok := slices.BinarySearchFunc(entries, name, func(e Entry, name string) int { return strings.Compare(e.Name, name) })
		switch {
		case !ok, deeper && !entries[i].IsTree():
			return 0, plumbing.ZeroHash, nil
		case !deeper:
			return entries[i].Mode, entries[i].Hash, nil
		}
		tree, path = entries[i].Hash, rest
	}
}

// ReadAhead reads the directories of a path below many trees: with ahead, all of a level at once.
func (f *Finder) ReadAhead(ahead func([]plumbing.Hash), roots []plumbing.Hash, path string) {
	for deeper := true; deeper; {
		ahead(slices.DeleteFunc(slices.Clone(roots), func(root plumbing.Hash) bool {
			_, isRead := f.read[root]
			return isRead
		}))
		var name string
		name, path, deeper = strings.Cut(path, "/")
		below := map[plumbing.Hash]bool{}
		for _, root := range roots {
			if mode, hash, err := f.Lookup(root, name); err == nil && mode == ModeTree {
				below[hash] = true
			}
		}
		roots = slices.Collect(maps.Keys(below))
	}
}

// A FileEntry is a tree file with slash-separated path.
type FileEntry struct {
	Path string
	Mode uint32
	Hash plumbing.Hash
}

// An Adder stores objects and returns their hashes.
type Adder interface {
	Add(plumbing.ObjectType, []byte) plumbing.Hash
}

// Replace stores a tree with files replaced or added, and returns its hash, zero if the
// tree is empty. Replace removes files with zero hash.
func Replace(r Reader, to Adder, tree plumbing.Hash, files []FileEntry) (plumbing.Hash, error) {
	entries, err := Read(r, tree)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	below := map[string][]FileEntry{}
	for _, f := range files {
		if name, rest, deeper := strings.Cut(f.Path, "/"); deeper {
			below[name] = append(below[name], FileEntry{rest, f.Mode, f.Hash})
			continue
		}
		entries = put(entries, Entry{Mode: f.Mode, Name: f.Path, Hash: f.Hash})
	}
	for name, files := range below {
		old, _ := Find(entries, name)
		if !old.IsTree() {
			old = Entry{}
		}
		hash, err := Replace(r, to, old.Hash, files)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if !hash.IsZero() || old.IsTree() {
			entries = put(entries, Entry{Mode: ModeTree, Name: name, Hash: hash})
		}
	}
	if len(entries) == 0 {
		return plumbing.ZeroHash, nil
	}
	return to.Add(plumbing.TreeObject, Encode(entries)), nil
}

// put replaces the entry of equal name. If e has a zero hash, put removes the entry.
func put(entries []Entry, e Entry) []Entry {
	entries = slices.DeleteFunc(entries, func(old Entry) bool { return old.Name == e.Name })
	if e.Hash.IsZero() {
		return entries
	}
	return append(entries, e)
}

// A CorruptError reports a stored object with an invalid format.
type CorruptError struct {
	Object string // a ref, a commit, or a path in a commit
	Err    error
	Hint   string // command for details, "" for the default, verify

	Lost plumbing.Hash // the object if it is missing or damaged, or zero
}

func (e *CorruptError) Error() string { return fmt.Sprintf("%s: %v", e.Object, e.Err) }

func (e *CorruptError) Unwrap() error { return e.Err }

// Exit returns the exit code and the hint of the cause, such as a missing object of a partial clone,
// or Invalid. After an error of the system, the object can be intact. A syntax error is no usage error
// here, because the user did not type the stored text.
func (e *CorruptError) Exit() (code int, hint string) {
	if odb.IsOfSystem(e.Err) {
		return failure.Failure, ""
	}
	if cause, ok := failure.Of(e.Err); ok {
		switch code, hint = cause.Exit(); code {
		case failure.Usage, failure.Invalid, failure.Repository, failure.Failure:
		default:
			return code, hint
		}
	}
	return failure.Invalid, cmp.Or(e.Hint, "git checkpoint verify")
}

// Corrupt returns a CorruptError.
func Corrupt(object, format string, args ...any) error {
	return &CorruptError{Object: object, Err: fmt.Errorf(format, args...)}
}

// IndexMode converts the mode of a file in a tree to its mode in an index. Early versions of git
// wrote more permission bits than the executable bit.
func IndexMode(mode uint32) (uint32, error) {
	switch {
	case mode == ModeSymlink, mode == ModeGitlink:
		return mode, nil
	case mode&^0o777 == 0o100000 && mode&0o100 != 0:
		return ModeExec, nil
	case mode&^0o777 == 0o100000:
		return ModeFile, nil
	}
	return 0, fmt.Errorf("no mode of a file: %o", mode)
}
