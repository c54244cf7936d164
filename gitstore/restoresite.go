package gitstore

import (
	"context"
	"errors"

	"git-checkpoint/gitstore/internal/restore"

	"github.com/go-git/go-git/v5/plumbing"
)

// site returns the worktree for package restore. Restores add objects to k; nil is
// allowed if no file is read.
func (s *Store) site(k *objectWriter) *restore.Worktree {
	site := &restore.Worktree{
		Git: s.git, Config: s.config,
		GitDir: s.repo.Dir, Root: s.repo.Root, Prefix: s.repo.Prefix, Index: s.repo.Index, State: s.stateDir(),
		OpenIndex: s.openIndex, Head: s.headTree, Hash: s.hashFiles,
	}
	if k != nil {
		site.Objects = k
	}
	return site
}

// headTree returns HEAD's tree, or zero if its branch is unborn.
func (s *Store) headTree(ctx context.Context) (plumbing.Hash, error) {
	now, err := s.readHead(ctx)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return s.treeOf(now)
}

// refusal converts a locked index error into a RefusedError, since nothing changed.
func refusal(err error) error {
	if locked, ok := errors.AsType[*restore.LockedError](err); ok {
		return &RefusedError{Reason: locked.Error()}
	}
	return err
}
