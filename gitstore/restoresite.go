package gitstore

import (
	"context"
	"errors"

	"git-checkpoint/gitstore/restore"

	"github.com/go-git/go-git/v5/plumbing"
)

// site is the worktree as restores see it. They add objects to k, which may be
// nil where nothing is read.
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

// headTree is the tree of HEAD, zero when unborn.
func (s *Store) headTree(ctx context.Context) (plumbing.Hash, error) {
	now, err := s.readHead(ctx)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return s.treeOf(now)
}

// refusal says of a staging area that another git writes that nothing was done.
func refusal(err error) error {
	if locked, ok := errors.AsType[*restore.LockedError](err); ok {
		return &RefusedError{Reason: locked.Error()}
	}
	return err
}
