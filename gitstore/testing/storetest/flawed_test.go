package storetest_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/testing/storetest"
)

// A verdict records the result of a promise in place of a test.
type verdict struct {
	testing.TB
	failed, skipped bool
}

func (v *verdict) Helper()               {}
func (v *verdict) Log(...any)            {}
func (v *verdict) Logf(string, ...any)   {}
func (v *verdict) Error(...any)          { v.failed = true }
func (v *verdict) Errorf(string, ...any) { v.failed = true }
func (v *verdict) Fail()                 { v.failed = true }
func (v *verdict) FailNow()              { v.failed = true; runtime.Goexit() }
func (v *verdict) Fatal(...any)          { v.FailNow() }
func (v *verdict) Fatalf(string, ...any) { v.FailNow() }
func (v *verdict) Failed() bool          { return v.failed }
func (v *verdict) Skip(...any)           { v.skipped = true; runtime.Goexit() }

// failures returns the promises that a store breaks, without slow promises.
func failures(t *testing.T, place storetest.Maker) []string {
	t.Helper()
	names := []string{}
	for _, p := range storetest.Promises() {
		if strings.Contains(p.Name, "mebibyte") {
			continue
		}
		v, done := &verdict{TB: t}, make(chan struct{})
		go func() {
			defer close(done)
			p.Try(v, place)
		}()
		<-done
		if v.failed {
			names = append(names, p.Name)
		}
	}
	return names
}

// A flawed is a handle on a memory store with a flaw.
type flawed struct {
	*memoryStore
	flaw *flaw
	knew int // number of saves of the issue before this handle was opened
}

// A flaw replaces operations of a store. Operations without a replacement work correctly.
type flaw struct {
	save    func(f *flawed, ctx context.Context, req gitstore.SaveRequest) (*gitstore.Saved, error)
	list    func(f *flawed, l *gitstore.List)
	find    func(f *flawed, i checkpoint.Issue, err error) (*gitstore.Checkpoint, error)
	raw     func(data []byte) []byte
	record  func(r *checkpoint.Record, err error) (*checkpoint.Record, error)
	pin     func() (bool, error)
	drop    func(f *flawed, i checkpoint.Issue, ids []checkpoint.ID) error
	prune   func(f *flawed, req gitstore.PruneRequest) (*gitstore.Pruned, error)
	archive func(l *gitstore.List)
	undo    func(f *flawed, i checkpoint.Issue) (*gitstore.Undone, error)
	purge   bool // skip the purge
	newID   func(phase string, at time.Time, digest []byte) checkpoint.ID

	mu    sync.Mutex
	saves int     // number of saves of the default issue
	by    *flawed // last handle that saved
}

// A broken creates a flaw for a store.
type broken func() *flaw

// place returns a store with a flaw.
func (b broken) place(_ testing.TB, now func() time.Time) storetest.World {
	made := b()
	s := &memoryStore{Now: now, NewID: made.newID}
	return storetest.World{Rewrite: s.Rewrite, Open: func() storetest.Subject {
		made.mu.Lock()
		defer made.mu.Unlock()
		return &flawed{s, made, made.saves}
	}}
}

// second reports whether another handle has saved since this handle was opened, and this
// handle has not saved afterwards.
func (f *flawed) second(i checkpoint.Issue) bool {
	return i == "42" && f.flaw.saves > f.knew && f.flaw.by != f
}

var background = context.Background()

func (f *flawed) Save(ctx context.Context, req gitstore.SaveRequest) (saved *gitstore.Saved, err error) {
	f.flaw.mu.Lock()
	defer f.flaw.mu.Unlock()
	if f.flaw.save == nil {
		saved, err = f.memoryStore.Save(ctx, req)
	} else {
		saved, err = f.flaw.save(f, ctx, req)
	}
	if err == nil && req.Issue == "42" && !f.second(req.Issue) {
		f.flaw.saves, f.flaw.by = f.flaw.saves+1, f
	}
	return saved, err
}

func (f *flawed) List(ctx context.Context, i checkpoint.Issue, limit int) (*gitstore.List, error) {
	f.flaw.mu.Lock()
	defer f.flaw.mu.Unlock()
	l, err := f.memoryStore.List(ctx, i, limit)
	if f.flaw.list != nil && err == nil {
		f.flaw.list(f, l)
	}
	return l, err
}

func (f *flawed) Archived(ctx context.Context, i checkpoint.Issue, limit int) (*gitstore.List, error) {
	l, err := f.memoryStore.Archived(ctx, i, limit)
	if f.flaw.archive != nil && err == nil {
		f.flaw.archive(l)
	}
	return l, err
}

func (f *flawed) Find(ctx context.Context, i checkpoint.Issue, name string) (*gitstore.Checkpoint, error) {
	c, err := f.memoryStore.Find(ctx, i, name)
	if f.flaw.find == nil || err == nil {
		return c, err
	}
	return f.flaw.find(f, i, err)
}

func (f *flawed) RecordBytes(c *gitstore.Checkpoint) ([]byte, error) {
	data, err := f.memoryStore.RecordBytes(c)
	if f.flaw.raw != nil && err == nil {
		data = f.flaw.raw(data)
	}
	return data, err
}

func (f *flawed) VerifiedRecord(c *gitstore.Checkpoint) (*checkpoint.Record, error) {
	r, err := f.memoryStore.VerifiedRecord(c)
	if f.flaw.record == nil {
		return r, err
	}
	return f.flaw.record(r, err)
}

func (f *flawed) Pin(ctx context.Context, i checkpoint.Issue, id checkpoint.ID, on bool) (bool, error) {
	if f.flaw.pin == nil {
		return f.memoryStore.Pin(ctx, i, id, on)
	}
	return f.flaw.pin()
}

func (f *flawed) Drop(ctx context.Context, i checkpoint.Issue, ids []checkpoint.ID) error {
	f.flaw.mu.Lock()
	defer f.flaw.mu.Unlock()
	if f.flaw.drop == nil {
		return f.memoryStore.Drop(ctx, i, ids)
	}
	return f.flaw.drop(f, i, ids)
}

func (f *flawed) Prune(ctx context.Context, req gitstore.PruneRequest) (*gitstore.Pruned, error) {
	if f.flaw.prune == nil {
		return f.memoryStore.Prune(ctx, req)
	}
	return f.flaw.prune(f, req)
}

func (f *flawed) Undo(ctx context.Context, i checkpoint.Issue) (*gitstore.Undone, error) {
	if f.flaw.undo == nil {
		return f.memoryStore.Undo(ctx, i)
	}
	return f.flaw.undo(f, i)
}

func (f *flawed) Purge(ctx context.Context, i checkpoint.Issue, ids []checkpoint.ID) ([]string, error) {
	if f.flaw.purge {
		return nil, nil
	}
	return f.memoryStore.Purge(ctx, i, ids)
}
