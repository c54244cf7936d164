package storetest

import (
	"slices"
	"testing"
)

// A Promise describes a store's guarantee.
type Promise struct {
	Name  string // topic, slash, guarantee
	needs []ability
	hold  func(t *trial)
}

// Run tests each promise as a subtest, each in a new store.
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

// Promises returns all promises in the order of Run.
func Promises() []Promise {
	return slices.Concat(
		idPromises(), findPromises(), listPromises(), recordPromises(), textPromises(), issuePromises(),
		failPromises(), crowdPromises(), pinPromises(), retentionPromises(), dropPromises(),
		archivePromises(), agePromises(), undoPromises(), purgePromises(), versionPromises(), filePromises(), peerPromises(),
	)
}

// Try tests a promise in a new store. It fails if the store breaks the promise, and skips
// if the store lacks a required ability.
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
