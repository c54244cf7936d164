package index

import (
	"encoding/binary"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Entry is one path of the staging area, or one stage of an unmerged path.
type Entry struct {
	Path  string // with slashes, any bytes but NUL
	Mode  filemode.FileMode
	Hash  plumbing.Hash
	Stage int // 0; 1 base, 2 ours, 3 theirs of an unmerged path

	IntentToAdd  bool // git add -N: the path is not part of the tree
	SkipWorktree bool // left out of the worktree by a sparse checkout
	AssumeValid  bool // git update-index --assume-unchanged

	Stat
}

// Stat is what git remembers of the file of an entry, cut to 32 bits each,
// zero where it is not known.
type Stat struct {
	CTime, MTime Time
	Dev, Ino     uint32
	UID, GID     uint32
	Size         uint32
}

// Time is a time of the file system as the index keeps it.
type Time struct{ Sec, Nsec uint32 }

// The flags of an entry, and those of its second word.
const (
	flagAssumeValid = 0x8000
	flagExtended    = 0x4000
	flagStage       = 0x3000
	flagLength      = 0x0fff

	moreSkipWorktree = 0x4000
	moreIntentToAdd  = 0x2000
)

// entry copies the entry under the cursor.
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
