package index

import (
	"bytes"
	"cmp"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// A Base is a tree that the repository has with all that is in it, as it has
// that of HEAD. WriteTree does not ask for what the base has in the same
// place. The zero Base has nothing.
type Base struct {
	Tree plumbing.Hash
	Read func(plumbing.Hash) ([]byte, error) // the content of a tree object
}

// open is the directory of the base with this hash, an empty one where it
// cannot be read: then everything is asked for.
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

// A baseDir is what is left of a directory of the base. Entries are looked for
// in the order of trees, so it is read once.
type baseDir struct{ rest []byte }

// find returns the mode, as text, and the object of an entry.
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

// has reports whether a file is in the directory as it is.
func (d *baseDir) has(name []byte, mode filemode.FileMode, hash plumbing.Hash) bool {
	found, object := d.find(name, false)
	return found != nil && object == hash && string(found)+" " == modeText(mode)
}

// compareEntries is the order of entries in a tree: directories sort as if
// their name ended in a slash.
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
