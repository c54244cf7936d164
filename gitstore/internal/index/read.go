package index

import (
	"bytes"
	"encoding/binary"
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
			err := x.guard(func() error {
				for len(block) < stride && c.i+1 < x.count {
					if err := c.step(); err != nil {
						return err
					}
					block = append(block, c.entry())
				}
				return nil
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

// stride is the number of entries between marks.
const stride = 64

// window is the number of bytes of a mapped index that are read before the pages are
// released.
const window = 1 << 20

// scan walks all entries, checks that they are within the file, and records marks. It
// returns the end offset.
func (f *form) scan() (int, error) {
	f.marks = make([]mark, 0, f.count/stride+1)
	if f.version == 4 {
		return f.scanPaths()
	}
	return f.scanLengths()
}

// scanLengths reads only the flags of each entry, because this loop dominates the time
// for a large index.
func (f *form) scanLengths() (int, error) {
	data, fixed := f.data, f.fixed
	off := headerSize
	for i := range f.count {
		if i%stride == 0 {
			f.leave(mark{first: i, off: off})
		}
		if len(data)-off < fixed {
			return 0, errBeyond(off)
		}
		flags := binary.BigEndian.Uint16(data[off+fixed-flagsSize:])
		length := int(flags & flagLength)
		if flags&(flagExtended|flagStage) != 0 || length == flagLength {
			c := cursor{f: f, i: i - 1, next: off}
			if err := c.step(); err != nil {
				return 0, err
			}
			f.noteSpecial(&c)
			off = c.next
			continue
		}
		off += (fixed + length + 8) &^ 7
	}
	if off > len(data) {
		return 0, errBeyond(off)
	}
	return off, nil
}

// scanPaths is scanLengths for version 4, in which each path depends on the previous
// path. Long paths get fewer marks, to limit their memory.
func (f *form) scanPaths() (int, error) {
	c := cursor{f: f, i: -1, next: headerSize}
	due, long := 0, 0
	for i := range f.count {
		if i >= due {
			f.leave(mark{i, c.next, append([]byte(nil), c.path...)})
			due = i + stride + len(c.path)/16
		}
		if err := c.step(); err != nil {
			return 0, err
		}
		if len(c.path) > longPath {
			long += len(c.path)
		}
		// Repeated long paths are small in the file, but each of them takes time.
		if long > 64<<20+32*len(f.data) {
			return 0, &FormatError{c.off, errSize.Error()}
		}
		f.noteSpecial(&c)
	}
	return c.next, nil
}

// leave records a mark. It releases the mapped pages after each window.
func (f *form) leave(m mark) {
	f.marks = append(f.marks, m)
	if f.relax != nil && m.off-f.left > window {
		f.relax()
		f.left = m.off
	}
}

func (f *form) noteSpecial(c *cursor) {
	if c.special() {
		f.special = append(f.special, c.i)
	}
}

func errBeyond(off int) error {
	return &FormatError{off, "entry ends beyond the file"}
}

// loadSpecial copies the special entries and checks their order relative to their
// neighbours, because building the tree skips them.
func (f *form) loadSpecial() error {
	c := cursor{f: f, i: -1}
	size := 0
	for _, i := range f.special {
		if c.i != i { // otherwise already at this entry
			if err := c.seek(max(i-1, 0)); err != nil {
				return err
			}
			if i > 0 {
				if err := c.follow(); err != nil {
					return err
				}
			}
		}
		if size += len(c.path); size > f.most() {
			return &FormatError{c.off, errSize.Error()}
		}
		if e := c.entry(); e.Stage != 0 {
			f.unmerged = append(f.unmerged, e)
		} else {
			f.toAdd = append(f.toAdd, e.Path)
		}
		if i+1 < f.count {
			if err := c.follow(); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow steps to the next entry and checks the order.
func (c *cursor) follow() error {
	path, stage := bytes.Clone(c.path), c.stage()
	if err := c.step(); err != nil {
		return err
	}
	cmp := bytes.Compare(path, c.path)
	if cmp < 0 || cmp == 0 && stage != 0 && stage < c.stage() {
		return nil
	}
	return &FormatError{c.off, "entries are not in order"}
}
