package gitstore

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// A head is the state of HEAD: its branch ("" if detached) and its commit (zero if the
// branch is unborn).
type head struct {
	branch string
	commit plumbing.Hash
}

// readHead reads HEAD of this worktree.
func (s *Store) readHead(ctx context.Context) (head, error) {
	if s.repo.RefFormat != "files" {
		return s.askHead(ctx)
	}
	file := filepath.Join(s.repo.Dir, "HEAD")
	if info, err := os.Lstat(file); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return s.askHead(ctx) // core.preferSymlinkRefs
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return head{}, fmt.Errorf("read HEAD: %w", err)
	}
	target, symbolic := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: ")
	if !symbolic {
		commit, err := refs.Parse("HEAD", data)
		return head{commit: commit}, err
	}
	branch, ok := strings.CutPrefix(target, "refs/heads/")
	if !ok {
		return s.askHead(ctx)
	}
	commit, err := s.readRef(ctx, target)
	if err != nil { // the branch may be a symbolic ref itself
		if h, askErr := s.askHead(ctx); askErr == nil && !h.commit.IsZero() {
			return h, nil
		}
	}
	return head{branch: branch, commit: commit}, err
}

func (s *Store) askHead(ctx context.Context) (head, error) {
	var h head
	name, err := s.git.Line(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && git.Code(err) != detached {
		return head{}, fmt.Errorf("read HEAD: %w", err)
	}
	h.branch = strings.TrimPrefix(name, "refs/heads/")
	hex, err := s.git.Line(ctx, "rev-parse", "--quiet", "--verify", "HEAD")
	if err != nil {
		return s.unborn(ctx, h, name, err)
	}
	h.commit = plumbing.NewHash(hex)
	return h, nil
}

// detached is git symbolic-ref's exit status if HEAD is no symbolic ref. Any other
// failure means that git cannot read HEAD.
const detached = 1

// unborn checks that the target branch of HEAD does not exist. The check is necessary,
// because git rev-parse also fails for unreadable branches.
func (s *Store) unborn(ctx context.Context, h head, target string, failed error) (head, error) {
	if target == "" {
		return head{}, fmt.Errorf("read HEAD: %w", failed)
	}
	commit, err := s.readRef(ctx, target)
	if err != nil {
		return head{}, fmt.Errorf("read HEAD: %w", err)
	}
	h.commit = commit
	return h, nil
}

// treeOf returns HEAD's tree, or zero if its branch is unborn.
func (s *Store) treeOf(h head) (plumbing.Hash, error) {
	if h.commit.IsZero() {
		return plumbing.ZeroHash, nil
	}
	c, err := s.readCommit(h.commit)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read HEAD: %w", err)
	}
	return c.tree, nil
}

// Branch returns the branch of HEAD, or "" if HEAD is detached.
func (s *Store) Branch(ctx context.Context) (string, error) {
	h, err := s.readHead(ctx)
	return h.branch, err
}
