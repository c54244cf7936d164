package storetest

import (
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// A Maker makes an empty place to keep checkpoints in. The store takes the time
// from now, which any goroutine may ask; t removes what was made.
type Maker func(t testing.TB, now func() time.Time) World

// A World is a place where checkpoints are kept, and what can be done to it. A
// field that is nil says that this cannot be done; Open can.
type World struct {
	// Open gives a handle on the place, as another process would have.
	Open func() Subject

	// Rewrite replaces the newest record of an issue where it is stored, by
	// what change makes of its text, as damage or a later version would.
	Rewrite func(i checkpoint.Issue, change func(record []byte) []byte)

	// Stage gives a file the content that the next checkpoint holds, and Files
	// are those that one holds.
	Stage func(path, content string)
	Files func(c *gitstore.Checkpoint) map[string]string

	// Peer gives a handle on another place that shares its checkpoints with
	// this one, and Meet lets both learn what the other knows.
	Peer func() Subject
	Meet func()
}

// An ability is something that not every store has.
type ability string

const (
	archives ability = "it has no archive (Archiver)"
	undoes   ability = "it takes nothing back (Undoer)"
	purges   ability = "it forgets nothing (Purger)"
	rewrites ability = "its records cannot be damaged (World.Rewrite)"
	files    ability = "it holds no files (World.Stage, World.Files)"
	shares   ability = "it shares with no other place (World.Peer, World.Meet)"
)

// abilities are all that there are, in the order in which they are told.
var abilities = []ability{archives, undoes, purges, rewrites, files, shares}

// can reports whether a place and a handle on it have an ability.
func (w World) can(a ability, s Subject) (ok bool) {
	switch a {
	case archives:
		_, ok = s.(Archiver)
	case undoes:
		_, ok = s.(Undoer)
	case purges:
		_, ok = s.(Purger)
	case rewrites:
		ok = w.Rewrite != nil
	case files:
		ok = w.Stage != nil && w.Files != nil
	case shares:
		ok = w.Peer != nil && w.Meet != nil
	}
	return ok
}
