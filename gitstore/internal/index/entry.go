package index

import (
	"encoding/binary"

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
