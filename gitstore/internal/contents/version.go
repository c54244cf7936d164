package contents

import (
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Side is one version of a file: mode and blob. The zero Side means that the file does
// not exist.
type Side struct {
	Mode uint32
	Hash plumbing.Hash
}

// Stages holds the index entries of a path: stage 0, or stages 1 to 3 of an unmerged
// path.
type Stages [4]Side

// Merged returns the entries of a path that is not unmerged.
func Merged(s Side) Stages { return Stages{s} }

// Intended is stage 0 of a path added by git add -N: an entry without staged content.
var Intended = Side{Mode: modeIntent}

// modeIntent is a mode that git does not use.
const modeIntent = 1

// A Target is a checkpoint's version of one path: Base at HEAD during the save, and Want
// in the snapshot.
type Target struct {
	Path      string
	Index     bool // the checkpoint has an index entry of its own, also if that is a removal
	Work      bool // likewise the file in the worktree
	Captured  bool // the save read the file; otherwise the state carries a version of it
	IndexBase Stages
	IndexWant Stages
	WorkBase  Side
	WorkWant  Side
}

// String returns "<octal mode> <hash>", or "" for a missing file.
func (f Side) String() string {
	if f == (Side{}) {
		return ""
	}
	return fmt.Sprintf("%o %s", f.Mode, f.Hash)
}

// MarshalText returns the result of String.
func (f Side) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText parses the result of String.
func (f *Side) UnmarshalText(text []byte) error {
	if *f = (Side{}); len(text) == 0 {
		return nil
	}
	mode, hex, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseUint(mode, 8, 32)
	if err != nil || !plumbing.IsHash(hex) {
		return fmt.Errorf("%q is no file", text)
	}
	*f = Side{uint32(n), plumbing.NewHash(hex)}
	return nil
}

// IsBlob reports whether a side is a regular file or symlink.
func (f Side) IsBlob() bool { return f.IsRegular() || f.Mode == trees.ModeSymlink }

// IsRegular reports whether a side is a regular file.
func (f Side) IsRegular() bool { return f.Mode == trees.ModeFile || f.Mode == trees.ModeExec }
