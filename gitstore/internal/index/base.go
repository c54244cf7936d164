package index

import (
	"bytes"
	"cmp"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// A Base is a tree that the repository contains completely, such as the tree of HEAD.
// WriteTree skips checks of objects that the base contains at the same path. The zero
// Base is empty.
type Base struct {
	Tree plumbing.Hash
	Read func(plumbing.Hash) ([]byte, error) // returns the content of a tree object
}

// open returns the base directory with this hash. If it is unreadable, open returns an
// empty directory, so that WriteTree checks all objects.
func (b Base) open(hash plumbing.Hash) baseDir {
	if b.Read == nil || hash.IsZero() {
		return baseDir{}
	}
	content, err := b.Read(hash)
	if err != nil {
		return baseDir{}
	}
	return baseDir{content}
}

// A baseDir is the unread rest of a base directory. Lookups are in tree order, so each
// directory is read once.
type baseDir struct{ rest []byte }

// find returns the mode, as text, and the hash of an entry.
func (d *baseDir) find(name []byte, isDir bool) (mode []byte, hash plumbing.Hash) {
	for len(d.rest) > 0 {
		head, _, ok := bytes.Cut(d.rest, []byte{0})
		mode, at, spaced := bytes.Cut(head, []byte{' '})
		end := len(head) + 1 + hashSize
		if !ok || !spaced || len(d.rest) < end {
			d.rest = nil
			break
		}
		order := compareEntries(at, string(mode) == "40000", name, isDir)
		if order > 0 {
			break
		}
		hash := plumbing.Hash(d.rest[end-hashSize : end])
		d.rest = d.rest[end:]
		if order == 0 {
			return mode, hash
		}
	}
	return nil, plumbing.ZeroHash
}

// has reports whether the directory contains a file with this name, mode and hash.
func (d *baseDir) has(name []byte, mode filemode.FileMode, hash plumbing.Hash) bool {
	found, object := d.find(name, false)
	return found != nil && object == hash && string(found)+" " == modeText(mode)
}

// compareEntries compares entries in tree order: directories sort as if their names ended
// in a slash.
func compareEntries(a []byte, aDir bool, b []byte, bDir bool) int {
	n := min(len(a), len(b))
	if c := bytes.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	return cmp.Compare(byteAt(a, aDir, n), byteAt(b, bDir, n))
}

func byteAt(name []byte, isDir bool, i int) byte {
	switch {
	case i < len(name):
		return name[i]
	case isDir:
		return '/'
	}
	return 0
}
