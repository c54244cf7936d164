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
	d := difference{reader: r, room: maxList}
	err := d.walk("", old, new)
	return d.changes, err
}

// Added returns the trees and files below the tree new, and this tree, that old does not have in the same
// place.
func Added(r Reader, old, new plumbing.Hash) ([]plumbing.Hash, error) {
	d := difference{reader: r, room: maxList}
	err := d.walk("", old, new)
	for _, c := range d.changes {
		if !c.New.Hash.IsZero() && c.New.Mode != ModeGitlink {
			d.trees = append(d.trees, c.New.Hash)
		}
	}
	return d.trees, err
}

// maxList limits the memory of a list of changes, in bytes. Ten nested trees with many references to
// the next tree contain more files than any disk, and a long directory name is in all paths below it.
const maxList = 1 << 29

type difference struct {
	reader  Reader
	changes []Change
	trees   []plumbing.Hash // that were compared, of the new tree
	room    int             // bytes that the list may still take
}

func (d *difference) walk(dir string, old, new plumbing.Hash) error {
	if old == new {
		return nil
	}
	if !d.take(dir) {
		return overgrown(old, new)
	}
	before, err := Read(d.reader, old)
	if err != nil {
		return err
	}
	after, err := Read(d.reader, new)
	if err != nil {
		return err
	}
	if len(after) > 0 {
		d.trees = append(d.trees, new)
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
	if !d.take(path) {
		return overgrown(a.Hash, b.Hash)
	}
	d.changes = append(d.changes, Change{Path: path, Old: a, New: b})
	return nil
}

func overgrown(old, new plumbing.Hash) error {
	if new.IsZero() {
		new = old
	}
	return Corrupt("object "+new.String(), "it is in too many directories of one snapshot")
}

// take counts a path and returns false above the limit.
func (d *difference) take(path string) bool {
	const perEntry = 128 // bytes beside the path
	d.room -= perEntry + len(path)
	return d.room >= 0
}
