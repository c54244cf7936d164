package storetest

import (
	"slices"
	"testing"
)

// A Promise is one thing that a store keeps to.
type Promise struct {
	Name  string // what about, a slash, and what
	needs []ability
	hold  func(t *trial)
}

// Run tries every promise as a subtest, each in a place of its own.
func Run(t *testing.T, place Maker) {
	told := newTrial(t, place)
	for _, a := range abilities {
		if !told.can(a, told.Subject) {
			t.Logf("not tried: %s", a)
		}
	}
	for _, p := range Promises() {
		t.Run(p.Name, func(t *testing.T) { p.Try(t, place) })
	}
}

// Promises are all that are tried, in the order of Run.
func Promises() []Promise {
	return slices.Concat(
		idPromises(), findPromises(), listPromises(), recordPromises(), textPromises(), issuePromises(),
		failPromises(), crowdPromises(), pinPromises(), retentionPromises(), dropPromises(),
		archivePromises(), agePromises(), undoPromises(), purgePromises(), versionPromises(), filePromises(), peerPromises(),
	)
}

// Try tries one promise in a new place. It fails where the promise is broken,
// and skips where the store cannot do what the promise is about.
func (p Promise) Try(t testing.TB, place Maker) {
	t.Helper()
	w := newTrial(t, place)
	for _, a := range p.needs {
		if !w.can(a, w.Subject) {
			t.Skip("not tried: " + string(a))
		}
	}
	p.hold(w)
	w.verify()
}
