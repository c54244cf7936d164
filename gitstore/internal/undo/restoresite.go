package undo

import (
	"context"
	"errors"

	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/restore"

	"github.com/go-git/go-git/v5/plumbing"
)

// site returns the worktree for package restore. Restores add objects to k; nil is
// allowed if no file is read.
func (s *Restorer) site(k *repo.ObjectWriter) *restore.Worktree {
	site := &restore.Worktree{
		Git: s.Git, Config: s.Config,
		GitDir: s.Info.Dir, Root: s.Info.Root, Prefix: s.Info.Prefix, Index: s.Info.Index, State: s.StateDir(),
		OpenIndex: s.OpenIndex, Head: s.headTree, Hash: s.HashFiles,
	}
	if k != nil {
		site.Objects = k
	}
	return site
}

// headTree returns HEAD's tree, or zero if its branch is unborn.
func (s *Restorer) headTree(ctx context.Context) (plumbing.Hash, error) {
	now, err := s.ReadHead(ctx)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return s.TreeOf(now)
}

// refusal converts a locked index error into a RefusedError, since nothing changed.
func refusal(err error) error {
	if locked, ok := errors.AsType[*restore.LockedError](err); ok {
		return &repo.RefusedError{Reason: locked.Error()}
	}
	return err
}
