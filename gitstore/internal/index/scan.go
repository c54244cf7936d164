package index

import "encoding/binary"

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
	due := 0
	for i := range f.count {
		if i >= due {
			f.leave(mark{i, c.next, append([]byte(nil), c.path...)})
			due = i + stride + len(c.path)/16
		}
		if err := c.step(); err != nil {
			return 0, err
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
