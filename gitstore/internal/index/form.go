package index

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Sizes of index parts.
const (
	headerSize = 12
	statSize   = 40 // stat data of an entry, before its hash
	flagsSize  = 2
	hashSize   = 20
	// minEntry is the minimum size of an entry, in all versions.
	minEntry = 64
	// maxPath limits paths of version 4, in which repeated long paths are small in the
	// file.
	maxPath = 1 << 15
)

// A form holds the parsed layout of an index.
type form struct {
	data    []byte // file content without checksum
	version uint32
	count   int
	fixed   int    // size of an entry before its name, without the extended word
	marks   []mark // positions at which reading can start
	special []int  // positions of unmerged and intent-to-add entries
	relax   func() // releases mapped pages; nil if the file is not mapped
	left    int    // offset of the last release in the scan
	cache   cacheTree

	unmerged []Entry
	toAdd    []string
}

// most returns the maximum total size of built trees. Names of a thousand bytes, the
// maximum of file systems, need less than half of it.
func (f *form) most() int { return 1<<20 + 32*len(f.data) }

// A mark is a position at which reading entries can start.
type mark struct {
	first int // position of the entry
	off   int
	path  []byte // version 4: previous path
}

// parse parses the whole index.
func (x *Index) parse(data []byte) error {
	err := x.form.parse(data, hashSize)
	if _, bad := errors.AsType[*FormatError](err); bad {
		// The file does not contain its hash algorithm, so try SHA-256.
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

// extensions parses the extensions after the entries.
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
