package gitstore

import (
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/restore"
	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// stored is a checkpoint's snapshot, opened.
type stored struct {
	restore.Contents
	head plumbing.Hash // HEAD at the save, zero when unborn
}

// targets lists what a snapshot changed against its HEAD, by path.
func (s *Store) targets(st *stored) ([]restore.Target, error) {
	return restore.Targets(s.objects, &st.Contents)
}

// openSnapshot reads what a checkpoint holds besides its record.
func (s *Store) openSnapshot(c *Checkpoint) (*stored, error) {
	record, err := s.VerifiedRecord(c)
	if err != nil {
		return nil, err
	}
	return s.snapshotOf(c, record)
}

// snapshotOf is openSnapshot where the record is known.
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

// readNear reads a commit that a checkpoint builds on, which may be beyond the
// boundary of a shallow clone.
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
