package gittest

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"
)

// A Deadline is a context whose deadline passes when the test calls Pass.
type Deadline struct {
	context.Context
	passed chan struct{}
	Pass   func()
}

// NewDeadline returns a context whose deadline has not passed.
func NewDeadline(t testing.TB) Deadline {
	passed := make(chan struct{})
	return Deadline{t.Context(), passed, sync.OnceFunc(func() { close(passed) })}
}

// Done is closed by Pass.
func (d Deadline) Done() <-chan struct{} { return d.passed }

// Err returns context.DeadlineExceeded after Pass.
func (d Deadline) Err() error {
	select {
	case <-d.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// AllocatedBy returns the bytes that a function allocates. It fails the test if the function
// hangs. It counts the whole process, so the caller may not be a parallel test.
func AllocatedBy(t testing.TB, do func()) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("it does not end")
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
