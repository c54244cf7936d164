package index

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// A cursor reads entries in sequence. Its path is valid until the next move.
type cursor struct {
	f     *form
	i     int // position of the entry
	off   int
	next  int // offset of the next entry
	flags uint16
	more  uint16
	path  []byte
}

// seek reads entry i.
func (c *cursor) seek(i int) error {
	m := sort.Search(len(c.f.marks), func(m int) bool { return c.f.marks[m].first > i }) - 1
	if m < 0 || i >= c.f.count {
		return &FormatError{c.off, "no such entry"}
	}
	c.start(m)
	for c.i < i {
		if err := c.step(); err != nil {
			return err
		}
	}
	return nil
}

// start positions the cursor before the entry of a mark.
func (c *cursor) start(m int) {
	mark := c.f.marks[m]
	c.i, c.next = mark.first-1, mark.off
	if c.f.version == 4 {
		c.path = append(c.path[:0], mark.path...)
	}
}

// step reads the next entry.
func (c *cursor) step() error {
	data, name := c.f.data, c.next+c.f.fixed
	if name > len(data) {
		return errBeyond(c.next)
	}
	c.i++
	c.off = c.next
	c.flags, c.more = binary.BigEndian.Uint16(data[name-flagsSize:]), 0
	if c.flags&flagExtended != 0 {
		if len(data)-name < 2 {
			return errBeyond(c.off)
		}
		c.more = binary.BigEndian.Uint16(data[name:])
		if c.more&^(moreSkipWorktree|moreIntentToAdd) != 0 {
			return &FormatError{name, "entry has flags that are not known"}
		}
		name += 2
	}
	if c.f.version == 4 {
		return c.compressed(name)
	}
	return c.plain(name)
}

// plain reads an uncompressed path at offset name.
func (c *cursor) plain(name int) error {
	rest := c.f.data[name:]
	n := int(c.flags & flagLength)
	if n == flagLength {
		if len(rest) < n {
			return errBeyond(c.off)
		}
		nul := bytes.IndexByte(rest[n:], 0)
		if nul < 0 {
			return errBeyond(c.off)
		}
		n += nul
	}
	size := (name - c.off + n + 8) &^ 7
	if size > len(c.f.data)-c.off {
		return errBeyond(c.off)
	}
	c.next = c.off + size
	c.path = rest[:n:n]
	if bytes.IndexByte(c.path, 0) >= 0 {
		return &FormatError{name, "path has a NUL"}
	}
	return nil
}

// compressed reads a version 4 path: the number of bytes to remove from the previous
// path, and a suffix.
func (c *cursor) compressed(name int) error {
	strip, n := varint(c.f.data[name:])
	if n == 0 || strip > uint64(len(c.path)) {
		return &FormatError{name, "path does not fit the one before"}
	}
	name += n
	end := bytes.IndexByte(c.f.data[name:], 0)
	if end < 0 {
		return errBeyond(c.off)
	}
	keep := len(c.path) - int(strip)
	if keep+end > maxPath {
		return &FormatError{name, "path is too long"}
	}
	c.path = append(c.path[:keep], c.f.data[name:name+end]...)
	c.next = name + end + 1
	return nil
}

// varint decodes git's offset encoding: seven bits per byte, high bits first. Each
// continuation adds one. It returns the number of bytes read, 0 if the encoding is
// invalid.
func varint(b []byte) (v uint64, n int) {
	for n < len(b) && n < 8 {
		c := b[n]
		n++
		v |= uint64(c & 0x7f)
		if c&0x80 == 0 {
			return v, n
		}
		v = (v + 1) << 7
	}
	return 0, 0
}

// special reports whether the entry is excluded from the tree.
func (c *cursor) special() bool {
	return c.flags&flagStage != 0 || c.more&moreIntentToAdd != 0
}

// fixed returns the bytes of the entry before its name.
func (c *cursor) fixed() []byte { return c.f.data[c.off : c.off+c.f.fixed] }
