package index

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"sort"
)

// All yields the entries in file order, by path, then by stage. Err then reports whether
// the sequence is complete.
func (x *Index) All() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		var block []Entry
		c := cursor{f: &x.form, i: -1, next: headerSize}
		for c.i+1 < x.count {
			block = block[:0]
			// yield must not run under the guard.
			err := x.guard(func() (err error) {
				block, err = c.entries(block, stride)
				return err
			})
			if err != nil {
				x.fail(err)
				return
			}
			for _, e := range block {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// entries appends up to n entries after the cursor.
func (c *cursor) entries(to []Entry, n int) ([]Entry, error) {
	for len(to) < n && c.i+1 < c.f.count {
		if err := c.step(); err != nil {
			return to, err
		}
		to = append(to, c.entry())
	}
	return to, nil
}

// Lookup returns the entries of a path: a single entry, the stages of an unmerged path,
// or an empty slice. Err returns the error of a failed lookup.
func (x *Index) Lookup(path string) []Entry {
	var found []Entry
	err := x.guard(func() (err error) {
		found, err = x.lookup([]byte(path))
		return err
	})
	if err != nil {
		x.fail(err)
		return nil
	}
	return found
}

func (f *form) lookup(path []byte) (found []Entry, err error) {
	c := cursor{f: f}
	// Find the last mark whose entry sorts before the path, so that Lookup returns all
	// stages.
	m := sort.Search(len(f.marks), func(m int) bool {
		c.start(m)
		if e := c.step(); e != nil {
			err = e
		}
		return bytes.Compare(c.path, path) >= 0
	})
	if err != nil || len(f.marks) == 0 {
		return nil, err
	}
	c.start(max(m-1, 0))
	for c.i+1 < f.count {
		if err := c.step(); err != nil {
			return nil, err
		}
		switch bytes.Compare(c.path, path) {
		case 0:
			found = append(found, c.entry())
		case 1:
			return found, nil
		}
	}
	return found, nil
}

// Special returns the stages of unmerged paths and the paths of intent-to-add entries, in
// order. It reads no data.
func (x *Index) Special() (conflicts []Entry, intentToAdd []string) {
	return slices.Clone(x.unmerged), slices.Clone(x.toAdd)
}

func (x *Index) fail(err error) {
	x.err = fmt.Errorf("read index: %s: %w", x.path, err)
}
