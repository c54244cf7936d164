package repo

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

// A Head is the state of HEAD: its branch ("" if detached) and its commit (zero if the
// branch is unborn).
type Head struct {
	Branch string
	Commit plumbing.Hash
}

// ReadHead reads HEAD of this worktree.
func (s *Repo) ReadHead(ctx context.Context) (Head, error) {
	if s.Info.RefFormat != "files" {
		return s.AskHead(ctx)
	}
	file := filepath.Join(s.Info.Dir, "HEAD")
	if info, err := os.Lstat(file); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return s.AskHead(ctx) // core.preferSymlinkRefs
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return Head{}, fmt.Errorf("read HEAD: %w", err)
	}
	target, symbolic := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: ")
	if !symbolic {
		commit, err := refs.Parse("HEAD", data)
		return Head{Commit: commit}, err
	}
	branch, ok := strings.CutPrefix(target, "refs/heads/")
	if !ok {
		return s.AskHead(ctx)
	}
	commit, err := s.ReadRef(ctx, target)
	if err != nil { // the branch may be a symbolic ref itself
		if h, askErr := s.AskHead(ctx); askErr == nil && !h.Commit.IsZero() {
			return h, nil
		}
	}
	return Head{Branch: branch, Commit: commit}, err
}

func (s *Repo) AskHead(ctx context.Context) (Head, error) {
	var h Head
	name, err := s.Git.Line(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && git.Code(err) != detached {
		return Head{}, fmt.Errorf("read HEAD: %w", err)
	}
	h.Branch = strings.TrimPrefix(name, "refs/heads/")
	hex, err := s.Git.Line(ctx, "rev-parse", "--quiet", "--verify", "HEAD")
	if err != nil {
		return s.unborn(ctx, h, name, err)
	}
	h.Commit = plumbing.NewHash(hex)
	return h, nil
}

// detached is git symbolic-ref's exit status if HEAD is no symbolic ref. Any other
// failure means that git cannot read HEAD.
const detached = 1

// unborn checks that the target branch of HEAD does not exist. The check is necessary,
// because git rev-parse also fails for unreadable branches.
func (s *Repo) unborn(ctx context.Context, h Head, target string, failed error) (Head, error) {
	if target == "" {
		return Head{}, fmt.Errorf("read HEAD: %w", failed)
	}
	commit, err := s.ReadRef(ctx, target)
	if err != nil {
		return Head{}, fmt.Errorf("read HEAD: %w", err)
	}
	h.Commit = commit
	return h, nil
}

// TreeOf returns HEAD's tree, or zero if its branch is unborn.
func (s *Repo) TreeOf(h Head) (plumbing.Hash, error) {
	if h.Commit.IsZero() {
		return plumbing.ZeroHash, nil
	}
	c, err := s.ReadCommit(h.Commit)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read HEAD: %w", err)
	}
	return c.Tree, nil
}

// Branch returns the branch of HEAD, or "" if HEAD is detached.
func (s *Repo) Branch(ctx context.Context) (string, error) {
	h, err := s.ReadHead(ctx)
	return h.Branch, err
}
