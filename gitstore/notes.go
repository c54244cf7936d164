package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/gitstore/internal/repo"
)

// Notes are small state files of commands, by name. All worktrees of the repository share
// them, except those of ReadHere and WriteHere.
type Notes struct{ repo *repo.Repo }

// Path returns the path of a note.
func (n Notes) Path(name string) string { return n.repo.NotePath(name) }

// Write replaces a note. Readers see either the old or the new content.
func (n Notes) Write(name string, data []byte) error { return n.repo.WriteNote(name, data) }

// ReadHere returns a note of this worktree alone, or nil.
func (n Notes) ReadHere(name string) []byte {
	data, _ := os.ReadFile(filepath.Join(n.repo.StateDir(), name))
	return data
}

// WriteHere replaces a note of this worktree alone.
func (n Notes) WriteHere(name string, data []byte) error {
	return n.repo.WriteFile(filepath.Join(n.repo.StateDir(), name), data)
}

// Touch sets the time of an empty note, and creates the note if necessary.
func (n Notes) Touch(name string, at time.Time) error { return n.repo.TouchNote(name, at) }

// Lock acquires the lock of a note; release releases it. If another process holds the
// lock for long, Lock fails with *RefusedError.
func (n Notes) Lock(ctx context.Context, name string) (release func(), err error) {
	return n.repo.LockNote(ctx, name)
}
