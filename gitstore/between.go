package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"git-checkpoint/gitstore/between"
	"git-checkpoint/gitstore/outputs"
	"git-checkpoint/gitstore/trees"
)

// Between is what lies between two checkpoints: their files as far as they
// differ. Close it.
type TreeDiff = between.Diff

// A FileChange is a file that two checkpoints do not hold alike.
type FileChange = between.Change

// Diff compares the files of two checkpoints, or with no first one those of
// a checkpoint with HEAD as it was at the save. Paths narrow it down, as git
// reads them, none for all.
func (s *Store) Diff(from, to *Checkpoint, paths ...string) (*TreeDiff, error) {
	before, err := s.sideBefore(from, to)
	if err != nil {
		return nil, err
	}
	after, err := s.side(to)
	if err != nil {
		return nil, err
	}
	at := between.Source{Git: s.git, Objects: s.objects, NoIndex: filepath.Join(s.stateDir(), "no-index")}
	return between.New(at, before, after, paths...)
}

// sideBefore is what a checkpoint is compared with: another one's files, or
// HEAD's.
func (s *Store) sideBefore(from, to *Checkpoint) (between.Side, error) {
	if from != nil {
		return s.side(from)
	}
	st, err := s.openSnapshot(to)
	if err != nil {
		return between.Side{}, err
	}
	return between.Tree(st.Base), nil
}

func (s *Store) side(c *Checkpoint) (between.Side, error) {
	entries, err := trees.Read(s.objects, c.Tree)
	if err != nil {
		return between.Side{}, fmt.Errorf("%s: %w", c.name(), err)
	}
	deleted, err := s.deleted(c)
	return between.Side{Name: c.name(), Entries: entries, Deleted: deleted}, err
}

// deleted are the unstaged deletions, which only the record tells. Most records
// have none, and reading a large one takes long.
func (s *Store) deleted(c *Checkpoint) ([]string, error) {
	data, err := s.RecordBytes(c)
	if err != nil || !bytes.Contains(data, []byte("deleted")) {
		return nil, err
	}
	r, err := s.Record(c)
	if err != nil {
		return nil, err
	}
	return r.Snapshot().Deleted, nil
}

// DiffSince shows, as git diff does, how a file of the worktree differs from
// the checkpoint's. The text has what the files have in it: it is not fit for a
// terminal as it is.
func (s *Store) DiffSince(ctx context.Context, c *Checkpoint, path string) (string, error) {
	st, err := s.openSnapshot(c)
	if err != nil {
		return "", err
	}
	targets, err := s.targets(st)
	if err != nil {
		return "", err
	}
	for _, t := range targets {
		if t.Path == path {
			w := &between.WorktreeFiles{Git: s.git, Root: s.repo.Root, Objects: s.objects, MaxFile: outputs.MaxDigested}
			return w.Diff(ctx, t)
		}
	}
	return "", fmt.Errorf("path %q: the checkpoint did not change it", path)
}
