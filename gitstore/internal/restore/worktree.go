// Package restore puts the files of a snapshot back into a worktree and its
// staging area, and loses nothing that is there.
//
//	Targets    what the snapshot changed, by path: nothing else is touched
//	observe    what each of these paths is now
//	decide     a step for each path that can be put back, as a pure function
//	prepare    the new files are made by git, in a folder beside the worktree
//	Keep       the caller makes last what is needed to take the steps back
//	act        files are exchanged one by one, then the index as a whole
//
// An edit that somebody makes meanwhile stays. What was interrupted is finished
// or taken back from the steps alone. Refs, journals and HEAD are the caller's
// matter.
package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/index"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Worktree is the worktree to restore, with its staging area and its repository.
type Worktree struct {
	Git    git.Git           // of the repository
	Config []git.ConfigEntry // git's configuration
	GitDir string            // of this worktree
	Root   string            // of the worktree
	Prefix string            // the working directory below it, "" or "a/b/": it stays
	Index  string            // the staging area's file
	State  string            // a folder that is this worktree's own, for files on their way

	Objects Objects

	// OpenIndex reads the staging area.
	OpenIndex func(context.Context) (*index.Index, func(), error)
	// Head is the tree of HEAD, zero when unborn.
	Head func(context.Context) (plumbing.Hash, error)
	// Hash tells the blobs that git would make of files of the worktree, zero
	// for one that cannot be read.
	Hash func(context.Context, []string) ([]plumbing.Hash, error)
	// Touched returns those of the paths that commits have changed since the
	// snapshot, also if their content is the old one again. It fails with
	// ErrUnknownHistory if the history does not show that. It is nil for a Site that compares no HEADs.
	Touched func(context.Context, []string) (map[string]bool, error)
}

// ErrUnknownHistory reports that nothing shows which paths commits have changed.
var ErrUnknownHistory = errors.New("the history since the snapshot is not known")

// Objects are what is stored, and what is added to that.
type Objects interface {
	Read(plumbing.Hash) (plumbing.ObjectType, []byte, error)
	Header(plumbing.Hash) (plumbing.ObjectType, int64, error)
	Has(plumbing.Hash) bool
	Add(plumbing.ObjectType, []byte) plumbing.Hash
	Keep(plumbing.Hash)          // what git stored has to last like what was added
	Flush(context.Context) error // lets git read what was added
}

// A LockedError says that another git writes the staging area.
type LockedError struct{ Lock string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("the index is locked by another git process (%s)", e.Lock)
}

// Stale is the lock of the index that a killed restore left, "" for none.
func (s *Worktree) Stale() string {
	a := s.lockedIndexFiles()
	if a.isStale() {
		return a.file + ".lock"
	}
	return ""
}

// Sweep removes what a killed restore left in this worktree's own folder. No
// other restore may be under way.
func (s *Worktree) Sweep() error {
	s.lockedIndexFiles().freeStale()
	if err := os.RemoveAll(s.stagingDir()); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil // not empty: a git that outlived it still makes files there
}
