package gitstore

import (
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/restore"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A stored is an opened snapshot of a checkpoint.
type stored struct {
	restore.Contents
	head plumbing.Hash // HEAD at the save, zero if unborn
}

// targets returns the paths that a snapshot changed relative to its HEAD, sorted by path.
func (s *Store) targets(st *stored) ([]restore.Target, error) {
	return restore.Targets(s.objects, &st.Contents)
}

// openSnapshot opens the snapshot of a checkpoint.
func (s *Store) openSnapshot(c *Checkpoint) (*stored, error) {
	record, err := s.VerifiedRecord(c)
	if err != nil {
		return nil, err
	}
	return s.snapshotOf(c, record)
}

// snapshotOf is openSnapshot for a known record.
func (s *Store) snapshotOf(c *Checkpoint, record *checkpoint.Record) (*stored, error) {
	st := &stored{Contents: restore.Contents{Record: record}}
	commit, err := s.readCommit(c.Commit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	if st.Entries, err = trees.Read(s.objects, c.Tree); err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	if e, ok := trees.Find(st.Entries, "staged"); ok {
		st.Staged = e.Hash
	}
	if len(commit.parents) < 2 {
		return st, nil
	}
	index, err := s.readNear(c, "index commit", commit.parents[1])
	if err != nil {
		return nil, err
	}
	if len(index.parents) == 0 {
		return st, nil
	}
	st.head = index.parents[0]
	head, err := s.readNear(c, "HEAD at the save", st.head)
	if err != nil {
		return nil, err
	}
	st.Base = head.tree
	return st, nil
}

// readNear reads a commit that a checkpoint refers to. In a shallow clone the commit may
// be missing.
func (s *Store) readNear(c *Checkpoint, what string, hash plumbing.Hash) (rawCommit, error) {
	commit, err := s.readCommit(hash)
	switch {
	case err == nil:
		return commit, nil
	case s.repo.Shallow && !s.objects.Has(hash):
		return commit, &RefusedError{
			Reason: fmt.Sprintf("the %s, %s, is not in this shallow clone", what, hash.String()[:12]),
			Hint:   "git fetch --unshallow",
		}
	}
	return commit, fmt.Errorf("%s: %s: %w", c.ID, what, err)
}
