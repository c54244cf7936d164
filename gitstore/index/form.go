package index

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Sizes of the parts of an index.
const (
	headerSize = 12
	statSize   = 40 // of an entry, before its hash
	flagsSize  = 2
	hashSize   = 20
	// An entry has at least 64 bytes in every version.
	minEntry = 64
	// maxPath keeps version 4, where a long path costs nothing to repeat,
	// from blowing up.
	maxPath = 1 << 15
)

// form is what one walk over the bytes of an index finds out.
type form struct {
	data    []byte // without the checksum
	version uint32
	count   int
	fixed   int    // size of an entry before its name, if it is not extended
	marks   []mark // where to begin looking for an entry
	special []int  // unmerged and intent-to-add entries, by position
	relax   func() // gives mapped pages back, nil where there are none
	left    int    // where the scan last did so
	cache   cacheTree

	unmerged []Entry
	toAdd    []string
}

// most bounds what is built of the paths. Names of a thousand bytes, the
// longest that file systems have, stay below half of it.
func (f *form) most() int { return 1<<20 + 32*len(f.data) }

// mark is a place to begin reading entries from.
type mark struct {
	first int // position of the entry
	off   int
	path  []byte // version 4: the path before
}

// parse walks over the whole index.
func (x *Index) parse(data []byte) error {
	err := x.form.parse(data, hashSize)
	if _, bad := errors.AsType[*FormatError](err); bad {
		// Nothing in the file says which hash it has.
		if new(form).parse(data, 32) == nil {
			return fmt.Errorf("hashes of 32 bytes: %w", ErrUnsupported)
		}
	}
	return err
}

func (f *form) parse(data []byte, hash int) error {
	*f = form{fixed: statSize + hash + flagsSize, relax: f.relax}
	if err := f.header(data, hash); err != nil {
		return err
	}
	end, err := f.scan()
	if err != nil {
		return err
	}
	if err := f.extensions(end); err != nil {
		return err
	}
	if hash != hashSize {
		return nil
	}
	return f.loadSpecial()
}

func (f *form) header(data []byte, hash int) error {
	if len(data) < headerSize+hash {
		return &FormatError{len(data), "shorter than a header and a checksum"}
	}
	if string(data[:4]) != "DIRC" {
		return &FormatError{0, "no index begins like this"}
	}
	f.data = data[:len(data)-hash]
	f.version = binary.BigEndian.Uint32(data[4:])
	if f.version < 2 || f.version > 4 {
		return fmt.Errorf("version %d: %w", f.version, ErrUnsupported)
	}
	count := binary.BigEndian.Uint32(data[8:])
	if int64(count)*minEntry > int64(len(f.data)-headerSize) {
		return &FormatError{8, fmt.Sprintf("%d entries do not fit into %d bytes", count, len(data))}
	}
	f.count = int(count)
	return nil
}

// extensions reads what follows the entries.
func (f *form) extensions(off int) error {
	for off < len(f.data) {
		if len(f.data)-off < 8 {
			return &FormatError{off, "extension ends beyond the file"}
		}
		name := string(f.data[off : off+4])
		size := int64(binary.BigEndian.Uint32(f.data[off+4:]))
		off += 8
		if size > int64(len(f.data)-off) {
			return &FormatError{off, fmt.Sprintf("extension %q ends beyond the file", name)}
		}
		switch {
		case name == "TREE":
			f.cache = parseCacheTree(f.data[off : off+int(size)])
		case name[0] >= 'a' && name[0] <= 'z':
			return fmt.Errorf("extension %q: %w", name, ErrUnsupported)
		case name[0] < 'A' || name[0] > 'Z':
			return &FormatError{off, fmt.Sprintf("extension %q", name)}
		}
		off += int(size)
	}
	return nil
}
