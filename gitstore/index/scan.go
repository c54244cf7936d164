package index

import "encoding/binary"

// stride is the number of entries from one mark to the next.
const stride = 64

// window is how much of a mapped index is read before its pages are given
// back, in bytes.
const window = 1 << 20

// scan walks over all entries, checks that they lie inside the file, and
// leaves marks. It returns where they end.
func (f *form) scan() (int, error) {
	f.marks = make([]mark, 0, f.count/stride+1)
	if f.version == 4 {
		return f.scanPaths()
	}
	return f.scanLengths()
}

// scanLengths looks at nothing but the flags of each entry: what it does
// here is most of the time that a large index takes.
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

// scanPaths is scanLengths for version 4, where every path builds on the one
// before. A long path gets fewer marks, which bounds what they keep.
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

// leave leaves a mark, and the pages of a window that was walked over.
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
