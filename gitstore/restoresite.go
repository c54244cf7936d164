package gitstore

import (
	"context"
	"errors"

	"git-checkpoint/gitstore/internal/restore"

	"github.com/go-git/go-git/v5/plumbing"
)

// site returns the worktree for package restore. Restores add objects to k, which may be
// nil if no file is read.
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

// headTree returns the tree of HEAD, or zero if the branch is unborn.
func (s *Store) headTree(ctx context.Context) (plumbing.Hash, error) {
	now, err := s.readHead(ctx)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return s.treeOf(now)
}

// refusal converts the error of a locked index into a RefusedError, since nothing was
// changed.
func refusal(err error) error {
	if locked, ok := errors.AsType[*restore.LockedError](err); ok {
		return &RefusedError{Reason: locked.Error()}
	}
	return err
}
