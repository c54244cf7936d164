package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// File modes of git's trees.
const (
	modeTree    = 0o040000
	modeFile    = 0o100644
	modeExec    = 0o100755
	modeSymlink = 0o120000
	modeGitlink = 0o160000
)

// A treeEntry is a line of a tree object.
type treeEntry struct {
	mode uint32
	name string
	hash plumbing.Hash
}

func (e treeEntry) isTree() bool { return e.mode == modeTree }

// same reports whether two entries hold the same thing.
func (e treeEntry) same(o treeEntry) bool { return e.mode == o.mode && e.hash == o.hash }

// parseTree reads a tree object: "<octal mode> <name>\0<20 bytes>" each.
func parseTree(data []byte) ([]treeEntry, error) {
	entries := make([]treeEntry, 0, len(data)/36)
	for len(data) > 0 {
		e, rest, err := cutEntry(data)
		if err != nil {
			return nil, err
		}
		entries, data = append(entries, e), rest
	}
	return entries, nil
}

// cutEntry reads the first entry of a tree object.
func cutEntry(data []byte) (e treeEntry, rest []byte, err error) {
	space := bytes.IndexByte(data, ' ')
	end := bytes.IndexByte(data, 0)
	if space < 0 || end < space || len(data) < end+21 {
		return e, nil, errors.New("a tree that is cut short")
	}
	mode, err := strconv.ParseUint(string(data[:space]), 8, 32)
	if err != nil {
		return e, nil, fmt.Errorf("a tree with the mode %q", data[:space])
	}
	e = treeEntry{mode: uint32(mode), name: string(data[space+1 : end]), hash: plumbing.Hash(data[end+1 : end+21])}
	return e, data[end+21:], nil
}

// encodeTree writes a tree object, its entries in git's order: directories
// sort as if their name ended in a slash.
func encodeTree(entries []treeEntry) []byte {
	slices.SortFunc(entries, func(a, b treeEntry) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	var b bytes.Buffer
	for _, e := range entries {
		fmt.Fprintf(&b, "%o %s\x00", e.mode, e.name)
		b.Write(e.hash[:])
	}
	return b.Bytes()
}

func (e treeEntry) sortKey() string {
	if e.isTree() {
		return e.name + "/"
	}
	return e.name
}

// entry finds a name among entries.
func entry(entries []treeEntry, name string) (treeEntry, bool) {
	i := slices.IndexFunc(entries, func(e treeEntry) bool { return e.name == name })
	if i < 0 {
		return treeEntry{}, false
	}
	return entries[i], true
}

// A reader gives objects; the store and a save's own batch are readers.
type reader interface {
	Read(plumbing.Hash) (plumbing.ObjectType, []byte, error)
}

// readTree reads the tree with this hash; the empty tree needs no object.
func readTree(r reader, hash plumbing.Hash) ([]treeEntry, error) {
	if hash == emptyTree || hash.IsZero() {
		return nil, nil
	}
	data, err := readAs(r, plumbing.TreeObject, hash)
	if err != nil {
		return nil, err
	}
	entries, err := parseTree(data)
	if err != nil {
		return nil, corrupt("tree "+hash.String(), "%w", err)
	}
	return entries, nil
}

func readAs(r reader, want plumbing.ObjectType, hash plumbing.Hash) ([]byte, error) {
	kind, data, err := r.Read(hash)
	if err != nil {
		return nil, corrupt(fmt.Sprintf("%s %s", want, hash), "%w", err)
	}
	if kind != want {
		return nil, corrupt(hash.String(), "want a %s, got a %s", want, kind)
	}
	return data, nil
}

func (s *Store) readCommit(hash plumbing.Hash) (rawCommit, error) {
	data, err := readAs(s.objects, plumbing.CommitObject, hash)
	if err != nil {
		return rawCommit{}, err
	}
	return parseCommit(hash, data)
}

// lookupPath finds a path below a tree; a zero hash means that it is not
// there.
func lookupPath(r reader, tree plumbing.Hash, path string) (uint32, plumbing.Hash, error) {
	for {
		name, rest, deeper := strings.Cut(path, "/")
		entries, err := readTree(r, tree)
		if err != nil {
			return 0, plumbing.ZeroHash, err
		}
		e, ok := entry(entries, name)
		switch {
		case !ok, deeper && !e.isTree():
			return 0, plumbing.ZeroHash, nil
		case !deeper:
			return e.mode, e.hash, nil
		}
		tree, path = e.hash, rest
	}
}
