package storetest

import (
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// A Maker creates an empty store. The function now returns the store's time, also in
// concurrent calls. The cleanup of t deletes the store.
type Maker func(t testing.TB, now func() time.Time) World

// A World provides a store and test operations. If Rewrite, Peer or Meet is nil, the store does not
// support the operation.
type World struct {
	// Open returns a new handle on the store, like another process.
	Open func() Subject

	// Rewrite replaces the newest stored record of an issue by the result of change, to
	// simulate damage or a later version.
	Rewrite func(i checkpoint.Issue, change func(record []byte) []byte)

	// Stage sets a file's content for the next checkpoint. Files returns the files of a
	// checkpoint.
	Stage func(path, content string)
	Files func(c *gitstore.Checkpoint) map[string]string

	// Peer returns a handle on another store that shares its checkpoints with this store.
	// Meet synchronizes both.
	Peer func() Subject
	Meet func()
}

// An ability names an optional store feature.
type ability string

const (
	undoes   ability = "it takes nothing back (Undoer)"
	purges   ability = "it forgets nothing (Purger)"
	rewrites ability = "its records cannot be damaged (World.Rewrite)"
	shares   ability = "it shares with no other place (World.Peer, World.Meet)"
)

// abilities lists all abilities in log order.
var abilities = []ability{undoes, purges, rewrites, shares}

// can reports whether store and handle support an ability.
func (w World) can(a ability, s Subject) (ok bool) {
	switch a {
	case undoes:
		_, ok = s.(Undoer)
	case purges:
		_, ok = s.(Purger)
	case rewrites:
		ok = w.Rewrite != nil
	case shares:
		ok = w.Peer != nil && w.Meet != nil
	}
	return ok
}
