// Package trees reads, compares and writes git's tree objects, and rejects paths that git
// would not check out.
package trees

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

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
var Empty = plumbing.ComputeHash(plumbing.TreeObject, nil)

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

// Parse parses a tree object, a sequence of "<octal mode> <name>\0<20 bytes>".
func Parse(data []byte) ([]Entry, error) {
	entries := make([]Entry, 0, len(data)/36)
	for len(data) > 0 {
		e, rest, err := cutEntry(data)
		if err != nil {
			return nil, err
		}
		entries, data = append(entries, e), rest
	}
	return entries, nil
}

// cutEntry parses the first entry of a tree object.
func cutEntry(data []byte) (e Entry, rest []byte, err error) {
	space := bytes.IndexByte(data, ' ')
	end := bytes.IndexByte(data, 0)
	if space < 0 || end < space || len(data) < end+21 {
		return e, nil, errors.New("a tree that is cut short")
	}
	mode, err := strconv.ParseUint(string(data[:space]), 8, 32)
	if err != nil {
		return e, nil, fmt.Errorf("a tree with the mode %q", data[:space])
	}
	e = Entry{Mode: uint32(mode), Name: string(data[space+1 : end]), Hash: plumbing.Hash(data[end+1 : end+21])}
	return e, data[end+21:], nil
}

// Encode returns a tree object. It sorts entries in place in git's order: directories
// sort as if their names ended in a slash.
func Encode(entries []Entry) []byte {
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	var b bytes.Buffer
	for _, e := range entries {
		fmt.Fprintf(&b, "%o %s\x00", e.Mode, e.Name)
		b.Write(e.Hash[:])
	}
	return b.Bytes()
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
		return nil, Corrupt(fmt.Sprintf("%s %s", want, hash), "%w", err)
	}
	if kind != want {
		return nil, Corrupt(hash.String(), "want a %s, got a %s", want, kind)
	}
	return data, nil
}

// Lookup returns mode and hash of a path below tree, or a zero hash if no such path
// exists. For many paths use Finder.
func Lookup(r Reader, tree plumbing.Hash, path string) (uint32, plumbing.Hash, error) {
	f := Finder{Reader: r}
	return f.Lookup(tree, path)
}
