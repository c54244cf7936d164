package odb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
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

// note records a failed fetch.
func (m *missing) note(h plumbing.Hash, err error, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed == nil {
		m.failed, m.since = map[plumbing.Hash]error{}, time.Now()
	}
	m.failed[h], m.last = err, err
	m.spent += took
}

// fetch runs git to read an object that a partial clone lacks. Git fetches the object
// from its promisor remote. If git fails, fetch returns a PromisedError.
func (s *Database) fetch(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	run := s.cfg.Fetch
	if run == nil {
		run = s.cfg.Git
	}
	if run == nil {
		return 0, nil, plumbing.ErrObjectNotFound
	}
	if err := s.missing.known(h); err != nil {
		return 0, nil, &PromisedError{h, err}
	}
	start := time.Now()
	out, err := run(context.Background(), []byte(h.String()+"\n"), "cat-file", "--batch")
	if err != nil {
		s.missing.note(h, err, time.Since(start))
		return 0, nil, &PromisedError{h, err}
	}
	t, content, err := parseBatch(out, h)
	if err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) {
		err = fmt.Errorf("fetch object %s: %w", h, err)
	}
	return t, content, err
}

// parseBatch parses "<hash> <type> <size> LF <content> LF" or "<hash> missing".
func parseBatch(out []byte, h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	line, rest, _ := bytes.Cut(out, []byte{'\n'})
	fields := bytes.Fields(line)
	if len(fields) == 2 && string(fields[1]) == "missing" {
		return 0, nil, plumbing.ErrObjectNotFound
	}
	if len(fields) != 3 || string(fields[0]) != h.String() {
		return 0, nil, formatError("git cat-file answered %.80q", line)
	}
	t, err := plumbing.ParseObjectType(string(fields[1]))
	if err != nil {
		return 0, nil, err
	}
	size, err := strconv.Atoi(string(fields[2]))
	if err != nil || size < 0 || size != len(rest)-1 {
		return 0, nil, formatError("git cat-file announced %q bytes and sent %d", fields[2], len(rest)-1)
	}
	return t, rest[:size:size], nil
}
