package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// List returns an issue's chain, newest first. Limit 0 means no limit.
func (s *memoryStore) List(ctx context.Context, i checkpoint.Issue, limit int) (*gitstore.List, error) {
	return s.list(ctx, i, limit, false)
}

// Archived returns an issue's archive, newest first, with the reason of each archival.
func (s *memoryStore) Archived(ctx context.Context, i checkpoint.Issue, limit int) (*gitstore.List, error) {
	return s.list(ctx, i, limit, true)
}

func (s *memoryStore) list(ctx context.Context, i checkpoint.Issue, limit int, archived bool) (*gitstore.List, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ref := s.chain(i), gitstore.LiveRef(i)
	entries := c.live
	if archived {
		entries, ref = c.archive, gitstore.ArchiveRef(i)
	}
	l := &gitstore.List{Issue: i, Ref: ref, Checkpoints: []gitstore.Checkpoint{}, Complete: limit <= 0 || len(entries) <= limit}
	for _, e := range entries {
		if limit > 0 && len(l.Checkpoints) == limit {
			break
		}
		cp := e.Checkpoint
		cp.Pinned = c.ledger.Pinned(cp.ID)
		if archived {
			cp.Archived, cp.Filed = true, filed(c.ledger.Archived[cp.ID])
		}
		l.Checkpoints = append(l.Checkpoints, cp)
	}
	return l, ctx.Err()
}

// RecordBytes returns the stored bytes of a record.
func (s *memoryStore) RecordBytes(c *gitstore.Checkpoint) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.chain(c.Issue).find(c.ID); e != nil {
		return slices.Clone(e.record), nil
	}
	return nil, &gitstore.NotFoundError{Issue: c.Issue, Name: string(c.ID)}
}

// VerifiedRecord returns the validated record of a checkpoint.
func (s *memoryStore) VerifiedRecord(c *gitstore.Checkpoint) (*checkpoint.Record, error) {
	data, err := s.RecordBytes(c)
	if err != nil {
		return nil, err
	}
	r, err := checkpoint.Decode(data)
	switch {
	case errors.As(err, new(*checkpoint.VersionError)):
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	case err != nil:
		return nil, &gitstore.CorruptError{Object: string(c.ID), Err: err}
	case r.ID() != c.ID:
		return nil, &gitstore.CorruptError{Object: string(c.ID), Err: fmt.Errorf("its record is that of %q", r.ID())}
	}
	return r, nil
}

// Find returns the checkpoint with a name. It accepts the names of gitstore.Store.Find
// except commits.
func (s *memoryStore) Find(ctx context.Context, i checkpoint.Issue, name string) (*gitstore.Checkpoint, error) {
	live, err := s.List(ctx, i, 0)
	if err != nil {
		return nil, err
	}
	archived, err := s.Archived(ctx, i, 0)
	if err != nil {
		return nil, err
	}
	back, isBack := stepsBack(name)
	switch {
	case len(live.Checkpoints) == 0 && (isBack || len(archived.Checkpoints) == 0):
		return nil, &gitstore.NoneError{Issue: i}
	case isBack && back < len(live.Checkpoints):
		return &live.Checkpoints[back], nil
	case isBack:
		return nil, &gitstore.NotFoundError{Issue: i, Name: name}
	}
	for _, l := range []*gitstore.List{live, archived} {
		if c, err := match(l.Checkpoints, name); c != nil || err != nil {
			return c, err
		}
	}
	return nil, &gitstore.NotFoundError{Issue: i, Name: name}
}

// stepsBack parses "latest" and "latest~N".
func stepsBack(name string) (int, bool) {
	if name == gitstore.Latest {
		return 0, true
	}
	steps, ok := strings.CutPrefix(name, gitstore.Latest+"~")
	n, err := strconv.Atoi(steps)
	return n, ok && err == nil && n >= 0
}

// match returns the checkpoint that matches a name, or nil.
func match(list []gitstore.Checkpoint, name string) (*gitstore.Checkpoint, error) {
	ambiguous := &gitstore.AmbiguousError{Name: name}
	var found *gitstore.Checkpoint
	for i := range list {
		c := &list[i]
		if string(c.ID) == name || describes(name, c) {
			return c, nil
		}
		if c.ID.Matches(name) {
			found, ambiguous.Candidates = c, append(ambiguous.Candidates, c.ID)
		}
	}
	if len(ambiguous.Candidates) > 1 {
		return nil, ambiguous
	}
	return found, nil
}

// describes reports whether a name selects a checkpoint by phase, time or note.
func describes(name string, c *gitstore.Checkpoint) bool {
	if text, ok := strings.CutPrefix(name, ":/"); ok {
		return text != "" && strings.Contains(c.Note, text)
	}
	if at, err := checkpoint.ParseTime(strings.TrimSuffix(strings.TrimPrefix(name, "@{"), "}")); err == nil && strings.HasPrefix(name, "@{") {
		return !c.Created.After(at)
	}
	return name == "@{phase:"+c.Phase+"}"
}
