package gitstore

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A treeChange is a path that differs between two trees; a zero hash means
// that it is not there.
type treeChange struct {
	path     string
	old, new treeEntry
}

// diffTrees lists the files that differ between two trees, by path, and opens
// only the directories that do.
func diffTrees(r reader, old, new plumbing.Hash) ([]treeChange, error) {
	d := treeDiff{old: r, new: r}
	err := d.walk("", old, new)
	return d.changes, err
}

// A treeDiff compares trees, each side read from where it is.
type treeDiff struct {
	old, new reader
	changes  []treeChange
}

func (d *treeDiff) walk(dir string, old, new plumbing.Hash) error {
	if old == new {
		return nil
	}
	before, err := readTree(d.old, old)
	if err != nil {
		return err
	}
	after, err := readTree(d.new, new)
	if err != nil {
		return err
	}
	for len(before) > 0 || len(after) > 0 {
		var a, b treeEntry
		switch order := headOrder(before, after); {
		case order < 0:
			a, before = before[0], before[1:]
		case order > 0:
			b, after = after[0], after[1:]
		default:
			a, b, before, after = before[0], after[0], before[1:], after[1:]
		}
		if err := d.entry(dir, a, b); err != nil {
			return err
		}
	}
	return nil
}

func headOrder(a, b []treeEntry) int {
	if len(a) == 0 {
		return 1
	}
	if len(b) == 0 {
		return -1
	}
	return strings.Compare(a[0].sortKey(), b[0].sortKey())
}

// entry compares two entries of one name and one kind, either of which may be
// missing.
func (d *treeDiff) entry(dir string, a, b treeEntry) error {
	if a.same(b) {
		return nil
	}
	name := first(a.name, b.name)
	if a.isTree() || b.isTree() {
		return d.walk(dir+name+"/", a.hash, b.hash)
	}
	d.changes = append(d.changes, treeChange{path: dir + name, old: a, new: b})
	return nil
}
