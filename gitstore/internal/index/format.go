package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"

	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// An Entry describes a path in the index, or a stage of an unmerged path.
type Entry struct {
	Path  string // slash-separated, any bytes except NUL
	Mode  filemode.FileMode
	Hash  plumbing.Hash
	Stage int // 0; 1 base, 2 ours, 3 theirs of an unmerged path

	IntentToAdd  bool // git add -N: the tree excludes this path
	SkipWorktree bool // excluded from the worktree by a sparse checkout
	AssumeValid  bool // git update-index --assume-unchanged

	Stat
}

// Stat contains the stat data of an entry's file. Each field has 32 bits and is zero if
// unknown.
type Stat struct {
	CTime, MTime Time
	Dev, Ino     uint32
	UID, GID     uint32
	Size         uint32
}

// A Time is a file time in index format.
type Time struct{ Sec, Nsec uint32 }

// Flags of an entry, and flags of its extended word.
const (
	flagAssumeValid = 0x8000
	flagExtended    = 0x4000
	flagStage       = 0x3000
	flagLength      = 0x0fff

	moreSkipWorktree = 0x4000
	moreIntentToAdd  = 0x2000
)

// entry returns a copy of the current entry.
func (c *cursor) entry() Entry {
	return Entry{
		Path:         string(c.path),
		Mode:         c.mode(),
		Hash:         c.hash(),
		Stage:        c.stage(),
		IntentToAdd:  c.more&moreIntentToAdd != 0,
		SkipWorktree: c.more&moreSkipWorktree != 0,
		AssumeValid:  c.flags&flagAssumeValid != 0,
		Stat:         readStat(c.fixed()),
	}
}

func (c *cursor) stage() int { return int(c.flags&flagStage) >> 12 }

func (c *cursor) mode() filemode.FileMode {
	return filemode.FileMode(binary.BigEndian.Uint32(c.fixed()[24:]))
}

func (c *cursor) hash() (h plumbing.Hash) {
	copy(h[:], c.fixed()[statSize:])
	return h
}

func readStat(b []byte) Stat {
	u := func(i int) uint32 { return binary.BigEndian.Uint32(b[i:]) }
	return Stat{
		CTime: Time{u(0), u(4)},
		MTime: Time{u(8), u(12)},
		Dev:   u(16),
		Ino:   u(20),
		UID:   u(28),
		GID:   u(32),
		Size:  u(36),
	}
}

// Sizes of index parts.
const (
	headerSize = 12
	statSize   = 40 // stat data of an entry, before its hash
	flagsSize  = 2
	// minName is the minimum size of a name in an entry, in all versions: a number and a NUL.
	minName = 2
	// longPath is the length above which the total length of the paths of version 4 is limited.
	longPath = 1 << 15
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
	err := x.form.parse(data, objectformat.Size)
	if _, bad := errors.AsType[*FormatError](err); bad {
		// The file does not name its object format, so try the other one.
		if new(form).parse(data, objectformat.OtherSize) == nil {
			return fmt.Errorf("hashes of %d bytes: %w", objectformat.OtherSize, ErrUnsupported)
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
	if hash != objectformat.Size {
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
	if int64(count)*int64(f.fixed+minName) > int64(len(f.data)-headerSize) {
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
