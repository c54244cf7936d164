package capture

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/treediff"
	"git-checkpoint/gitstore/internal/trees"
)

// A TreeDiff is the difference between the files of two checkpoints. The caller must
// close it.
type TreeDiff = treediff.Diff

// A FileChange is a file that differs between two checkpoints.
type FileChange = treediff.Change

// Diff compares the files of two checkpoints. If from is nil, it compares a checkpoint
// with HEAD at the time of its save. Paths are git pathspecs that limit the result;
// without paths all files count.
func (s *Capturer) Diff(from, to *chain.Checkpoint, paths ...string) (*TreeDiff, error) {
	before, err := s.sideBefore(from, to)
	if err != nil {
		return nil, err
	}
	after, err := s.side(to)
	if err != nil {
		return nil, err
	}
	at := treediff.Source{Git: s.Git, Objects: s.Objects, NoIndex: filepath.Join(s.StateDir(), "no-index")}
	return treediff.New(at, before, after, paths...)
}

// sideBefore returns the old side of a comparison: the files of checkpoint from, or of
// HEAD if from is nil.
func (s *Capturer) sideBefore(from, to *chain.Checkpoint) (treediff.Side, error) {
	if from != nil {
		return s.side(from)
	}
	st, err := s.OpenSnapshot(to)
	if err != nil {
		return treediff.Side{}, err
	}
	return treediff.Tree(st.Base), nil
}

func (s *Capturer) side(c *chain.Checkpoint) (treediff.Side, error) {
	entries, err := trees.Read(s.Objects, c.Tree)
	if err != nil {
		return treediff.Side{}, fmt.Errorf("%s: %w", c.Name(), err)
	}
	deleted, err := s.deleted(c)
	return treediff.Side{Name: c.Name(), Entries: entries, Deleted: deleted}, err
}

// deleted returns the unstaged deletions of a checkpoint. Only the record contains them.
// Most records have no deletions, so a quick search for the key avoids slow parsing of
// large records.
func (s *Capturer) deleted(c *chain.Checkpoint) ([]string, error) {
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

// DiffSince returns the difference between a checkpoint's file and the file in the
// worktree, in the format of git diff. The text contains raw file contents: callers must
// escape it for a terminal.
func (s *Capturer) DiffSince(ctx context.Context, c *chain.Checkpoint, path string) (string, error) {
	st, err := s.OpenSnapshot(c)
	if err != nil {
		return "", err
	}
	targets, err := s.Targets(st)
	if err != nil {
		return "", err
	}
	for _, t := range targets {
		if t.Path == path {
			w := &treediff.WorktreeFiles{Git: s.Git, Root: s.Info.Root, Objects: s.Objects, MaxFile: MaxDigested}
			return w.Diff(ctx, t)
		}
	}
	return "", fmt.Errorf("path %q: the checkpoint did not change it", path)
}
