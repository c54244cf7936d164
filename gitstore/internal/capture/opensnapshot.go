package capture

import (
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/restore"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Stored is an opened snapshot of a checkpoint.
type Stored struct {
	restore.Contents
	Head plumbing.Hash // HEAD at the save, zero if unborn
}

// Targets returns the paths that a snapshot changed relative to its HEAD, sorted by path.
func (s *Capturer) Targets(st *Stored) ([]restore.Target, error) {
	return restore.Targets(s.Objects, &st.Contents)
}

// OpenSnapshot opens the snapshot of a checkpoint.
func (s *Capturer) OpenSnapshot(c *chain.Checkpoint) (*Stored, error) {
	record, err := s.VerifiedRecord(c)
	if err != nil {
		return nil, err
	}
	return s.SnapshotOf(c, record)
}

// SnapshotOf is OpenSnapshot for a known record.
func (s *Capturer) SnapshotOf(c *chain.Checkpoint, record *checkpoint.Record) (*Stored, error) {
	st := &Stored{Contents: restore.Contents{Record: record}}
	commit, err := s.ReadCommit(c.Commit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	if st.Entries, err = trees.Read(s.Objects, c.Tree); err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	if e, ok := trees.Find(st.Entries, "staged"); ok {
		st.Staged = e.Hash
	}
	if len(commit.Parents) < 2 {
		return st, nil
	}
	index, err := s.readNear(c, "index commit", commit.Parents[1])
	if err != nil {
		return nil, err
	}
	if len(index.Parents) == 0 {
		return st, nil
	}
	st.Head = index.Parents[0]
	head, err := s.readNear(c, "HEAD at the save", st.Head)
	if err != nil {
		return nil, err
	}
	st.Base = head.Tree
	return st, nil
}

// readNear reads a commit that a checkpoint refers to. In a shallow clone the commit may
// be missing.
func (s *Capturer) readNear(c *chain.Checkpoint, what string, hash plumbing.Hash) (repo.RawCommit, error) {
	commit, err := s.ReadCommit(hash)
	switch {
	case err == nil:
		return commit, nil
	case s.Info.Shallow && !s.Objects.Has(hash):
		return commit, &repo.RefusedError{
			Reason: fmt.Sprintf("the %s, %s, is not in this shallow clone", what, hash.String()[:12]),
			Hint:   "git fetch --unshallow",
		}
	}
	return commit, fmt.Errorf("%s: %s: %w", c.ID, what, err)
}
