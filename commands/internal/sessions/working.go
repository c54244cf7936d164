package sessions

import (
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/gitstore"
)

// working is the folder with a record of each session that is in a turn according to its hooks.
// A killed agent leaves its record, which counts for longest.
const (
	working = "working"
	longest = 6 * time.Hour
)

// BeginTurn records that a session is in a turn.
func BeginTurn(notes gitstore.Notes, s Session) error { return write(notes, working, s) }

// Begun returns the record of BeginTurn, or the zero value.
func Begun(notes gitstore.Notes, id string) Session {
	if s, ok := read(notes.Path(name(working, id))); ok && s.ID == id {
		return s
	}
	return Session{}
}

// EndTurn removes the record of BeginTurn.
func EndTurn(notes gitstore.Notes, id string) { _ = os.Remove(notes.Path(name(working, id))) }

// AtWork returns the agent of another session that is in a turn in the same worktree, or "".
func AtWork(notes gitstore.Notes, s Session, now time.Time) string {
	dir := notes.Path(working)
	for _, f := range files(dir) {
		path := filepath.Join(dir, f.Name())
		if now.Sub(f.ModTime()).Abs() > longest {
			_ = os.Remove(path)
			continue
		}
		if other, ok := read(path); ok && other.ID != s.ID && other.Root == s.Root {
			return other.Agent
		}
	}
	return ""
}
