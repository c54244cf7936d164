package odb

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"git-checkpoint/gitstore/failure"

	"github.com/go-git/go-git/v5/plumbing"
)

// A PromisedError reports an object that a partial clone lacks and that git could not
// fetch.
type PromisedError struct {
	Hash plumbing.Hash
	Err  error
}

func (e *PromisedError) Error() string {
	return fmt.Sprintf("fetch object %s, which this partial clone lacks: %v", e.Hash, e.Err)
}

func (e *PromisedError) Unwrap() error { return e.Err }

func (e *PromisedError) Exit() (code int, hint string) { return failure.Remote, "git checkpoint sync" }

const (
	// fetchPatience limits the total time of failed fetches. Often many objects are
	// missing at once, and each fetch opens a connection.
	fetchPatience = 5 * time.Second
	// fetchPause is the time until a failed fetch is retried.
	fetchPause = time.Minute
)

// missing records failed fetches, so that an unreachable remote does not cause one
// connection per object.
type missing struct {
	mu     sync.Mutex
	failed map[plumbing.Hash]error
	last   error
	spent  time.Duration
	since  time.Time // start of the first failed fetch
}

// known returns the error of an earlier fetch if a retry is not due yet.
func (m *missing) known(h plumbing.Hash) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.since) > fetchPause {
		m.failed, m.last, m.spent = nil, nil, 0
	}
	if err := m.failed[h]; err != nil || m.spent < fetchPatience {
		return err
	}
	return m.last
}

func (m *missing) note(h plumbing.Hash, err error, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed == nil {
		m.failed, m.since = map[plumbing.Hash]error{}, time.Now()
	}
	m.failed[h], m.last = err, err
	m.spent += took
}

// fetch runs a git that fetches an object from the promisor remote of a partial clone. If git
// fails, fetch returns a PromisedError.
func (s *Database) fetch(h plumbing.Hash) (answer, error) {
	if err := s.missing.known(h); err != nil {
		return answer{}, &PromisedError{h, err}
	}
	start := time.Now()
	out, err := s.cfg.Fetch(context.Background(), []byte(h.String()+"\n"), "cat-file", "--batch")
	if err != nil {
		s.missing.note(h, err, time.Since(start))
		return answer{}, &PromisedError{h, err}
	}
	a, err := readAnswer(bufio.NewReader(bytes.NewReader(out)), forContents, h)
	if err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) {
		err = fmt.Errorf("fetch object %s: %w", h, err)
	}
	return a, err
}
