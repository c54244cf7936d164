// Package restore restores files of a snapshot to a worktree and its index without losing
// existing changes.
//
//	Targets    paths changed by the snapshot; no others are changed
//	readState  current state of each path
//	decide     a step for each restorable path, as a pure function
//	prepare    git creates new files outside the worktree
//	Keep       the caller makes undo data durable
//	apply      files are exchanged one by one, then the index as a whole
//
// Concurrent edits of the user are kept. An interrupted restore can be finished or undone
// from its steps. Callers handle refs, journals and HEAD.
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

// A Worktree is the worktree to restore, with index and repository.
type Worktree struct {
	Git    git.Git           // runs in the repository
	Config []git.ConfigEntry // git configuration
	GitDir string            // git directory of this worktree
	Root   string            // top-level directory
	Prefix string            // working directory below Root, "" or "a/b/"; never removed
	Index  string            // path of the index file
	State  string            // private directory of this worktree for temporary files

	Objects Objects

	// OpenIndex reads the index.
	OpenIndex func(context.Context) (*index.Index, func(), error)
	// Head returns the tree of HEAD, zero on an unborn branch.
	Head func(context.Context) (plumbing.Hash, error)
	// Hash returns blob hashes as git add would compute them; zero marks an unreadable
	// file.
	Hash func(context.Context, []string) ([]plumbing.Hash, error)
	// Touched returns paths changed by commits since the snapshot, even if later commits
	// reverted the change. It returns ErrUnknownHistory if the history is incomplete. If
	// Touched is nil, commits are not checked.
	Touched func(context.Context, []string) (map[string]bool, error)
}

// ErrUnknownHistory reports that changes by commits cannot be determined.
var ErrUnknownHistory = errors.New("the history since the snapshot is not known")

// Objects reads stored objects and adds new objects.
type Objects interface {
	Read(plumbing.Hash) (plumbing.ObjectType, []byte, error)
	Header(plumbing.Hash) (plumbing.ObjectType, int64, error)
	Has(plumbing.Hash) bool
	Add(plumbing.ObjectType, []byte) plumbing.Hash
	Keep(plumbing.Hash)          // makes an object stored by git durable
	Flush(context.Context) error // makes added objects readable for git
}

// A LockedError reports that another git process holds the index lock.
type LockedError struct{ Lock string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("the index is locked by another git process (%s)", e.Lock)
}

// Stale returns the path of an index lock left by a killed restore, or "".
func (s *Worktree) Stale() string {
	a := s.lockedIndexFiles()
	if a.isStale() {
		return a.file + ".lock"
	}
	return ""
}

// Sweep removes leftovers of killed restores from State. No other restore may be running.
func (s *Worktree) Sweep() error {
	s.lockedIndexFiles().freeStale()
	if err := os.RemoveAll(s.stagingDir()); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil // not empty: a git process that survived the kill still creates files
}
