package trees

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Finder looks up paths in trees and caches parsed trees. Without the cache, finding
// thousands of paths in a large directory takes hours. A Finder is not safe for
// concurrent use.
type Finder struct {
	Reader Reader

	read map[plumbing.Hash]*directory
}

// A directory represents a parsed tree. Frequent lookups use an index by name.
type directory struct {
	entries []Entry
	asked   int
	byName  map[string]Entry
}

// manyAsked is the number of linear searches before an index saves time.
const manyAsked = 8

func (d *directory) find(name string) (Entry, bool) {
	if d.asked++; d.asked <= manyAsked {
		return Find(d.entries, name)
	}
	if d.byName == nil {
		d.byName = make(map[string]Entry, len(d.entries))
		for _, e := range d.entries {
			if _, twice := d.byName[e.Name]; !twice {
				d.byName[e.Name] = e
			}
		}
	}
	e, ok := d.byName[name]
	return e, ok
}

func (f *Finder) directory(tree plumbing.Hash) (*directory, error) {
	if d := f.read[tree]; d != nil {
		return d, nil
	}
	entries, err := Read(f.Reader, tree)
	if err != nil {
		return nil, err
	}
	if f.read == nil {
		f.read = map[plumbing.Hash]*directory{}
	}
	d := &directory{entries: entries}
	f.read[tree] = d
	return d, nil
}

// Lookup returns mode and hash of a path below tree, or a zero hash if no such path
// exists.
func (f *Finder) Lookup(tree plumbing.Hash, path string) (uint32, plumbing.Hash, error) {
	for {
		name, rest, deeper := strings.Cut(path, "/")
		d, err := f.directory(tree)
		if err != nil {
			return 0, plumbing.ZeroHash, err
		}
		e, ok := d.find(name)
		switch {
		case !ok, deeper && !e.IsTree():
			return 0, plumbing.ZeroHash, nil
		case !deeper:
			return e.Mode, e.Hash, nil
		}
		tree, path = e.Hash, rest
	}
}
