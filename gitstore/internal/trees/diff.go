package trees

import (
	"cmp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Change is a path that differs between two trees. A zero hash means a missing path.
type Change struct {
	Path     string
	Old, New Entry
}

// Diff returns the files that differ between two trees, sorted by path. Diff reads only
// directories that differ. Diff fails with a CorruptError if repeated references to
// directories expand to an extremely long list.
func Diff(r Reader, old, new plumbing.Hash) ([]Change, error) {
	return DiffBetween(r, r, old, new)
}

// DiffBetween is Diff with a separate Reader for each tree.
func DiffBetween(before, after Reader, old, new plumbing.Hash) ([]Change, error) {
	d := difference{old: before, new: after}
	err := d.walk("", old, new)
	return d.changes, err
}

// A difference holds the state of a tree comparison.
type difference struct {
	old, new Reader
	changes  []Change
	room     room
}

func (d *difference) walk(dir string, old, new plumbing.Hash) error {
	if old == new {
		return nil
	}
	if !d.room.take(dir) {
		return overgrown(old, new)
	}
	before, err := d.open(d.old, old)
	if err != nil {
		return err
	}
	after, err := d.open(d.new, new)
	if err != nil {
		return err
	}
	for len(before)+len(after) > 0 {
		order := 0
		switch {
		case len(before) == 0:
			order = 1
		case len(after) == 0:
			order = -1
		case before[0] != after[0]:
			order = strings.Compare(before[0].sortKey(), after[0].sortKey())
		}
		var a, b Entry
		if order <= 0 {
			a, before = before[0], before[1:]
		}
		if order >= 0 {
			b, after = after[0], after[1:]
		}
		if err := d.entry(dir, a, b); err != nil {
			return err
		}
	}
	return nil
}

// open reads one side of a directory. The empty tree needs no object.
func (d *difference) open(r Reader, hash plumbing.Hash) ([]Entry, error) {
	if hash == Empty || hash.IsZero() {
		return nil, nil
	}
	data, err := ReadAs(r, plumbing.TreeObject, hash)
	if err != nil {
		return nil, err
	}
	d.room.give(hash, len(data))
	entries, err := Parse(data)
	if err != nil {
		return nil, Corrupt("tree "+hash.String(), "%w", err)
	}
	return entries, nil
}

// entry compares two entries of the same name and kind. Either may be empty.
func (d *difference) entry(dir string, a, b Entry) error {
	if a.Same(b) {
		return nil
	}
	name := cmp.Or(a.Name, b.Name)
	if a.IsTree() || b.IsTree() {
		return d.walk(dir+name+"/", a.Hash, b.Hash)
	}
	path := dir + name
	if !d.room.take(path) {
		return overgrown(a.Hash, b.Hash)
	}
	d.changes = append(d.changes, Change{Path: path, Old: a, New: b})
	return nil
}

// overgrown returns an error that reports trees with too many files.
func overgrown(old, new plumbing.Hash) error {
	if new.IsZero() {
		new = old
	}
	return Corrupt("object "+new.String(), "it is in too many directories of one snapshot")
}

// A room limits a comparison's memory. Ten nested trees with many references to the next
// tree contain more files than any disk. A long directory name repeats in all paths
// below. So the memory limit of a list depends on the total size of its distinct trees.
type room struct {
	used, given int
	known       map[plumbing.Hash]bool // counted trees
}

const (
	freeRoom = 128 << 20 // minimum limit in bytes, for many copies of directories
	perByte  = 16        // bytes of list per byte of tree
	perEntry = 128       // entry size without path
)

// give counts a tree.
func (r *room) give(tree plumbing.Hash, size int) {
	if r.known[tree] {
		return
	}
	if r.known == nil {
		r.known = map[plumbing.Hash]bool{}
	}
	r.known[tree] = true
	r.given += perByte * size
}

// take counts a path and returns false above the limit.
func (r *room) take(path string) bool {
	r.used += perEntry + len(path)
	return r.used <= freeRoom+r.given
}
