package gitstore

import (
	"context"
	"os"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/capture"
	"git-checkpoint/gitstore/internal/git/convert"

	"github.com/go-git/go-git/v5/plumbing"
)

// A capturedSnapshot contains captured repository content and its HEAD.
type capturedSnapshot struct {
	head head
	*capture.Snapshot
}

// snapshot captures the index for a save of an issue, and the other files of the request.
func (s *Store) snapshot(ctx context.Context, issue checkpoint.Issue, req capture.Request, k *objectWriter) (*capturedSnapshot, error) {
	a, err := s.stagedState(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.checkReceived(ctx, a.Changes); err != nil {
		return nil, err
	}
	left, err := a.LeaveOut(req.MaxSize, s.objects)
	if err != nil {
		return nil, err
	}
	snap, err := a.Begin(k, s.stagedBefore(ctx, issue, a.head.commit))
	if err != nil {
		return nil, err
	}
	if !a.head.commit.IsZero() {
		snap.Facts.Head = a.head.commit.String()
	}
	snap.Facts.Skipped = left
	snap.Facts.Detached = a.head.branch == ""
	snap.Facts.MergeHead = s.repo.MergeHeads()
	site := &capture.Source{Git: s.git, Config: s.config, CommonDir: s.repo.CommonDir, Root: s.repo.Root}
	if err := site.Take(ctx, snap, req, k); err != nil {
		return nil, err
	}
	return &capturedSnapshot{a.head, snap}, nil
}

// stagedBefore returns the staged tree of the newest commit in an issue's chain, or zero
// if that commit was saved on another HEAD.
func (s *Store) stagedBefore(ctx context.Context, issue checkpoint.Issue, head plumbing.Hash) plumbing.Hash {
	tip, err := s.readRef(ctx, LiveRef(issue))
	if err != nil || tip.IsZero() {
		return plumbing.ZeroHash
	}
	commit, err := s.readCommit(tip)
	if err != nil || len(commit.parents) != 2 {
		return plumbing.ZeroHash
	}
	index, err := s.readCommit(commit.parents[1])
	if err != nil {
		return plumbing.ZeroHash
	}
	var on plumbing.Hash
	if len(index.parents) > 0 {
		on = index.parents[0]
	}
	if on != head {
		return plumbing.ZeroHash
	}
	return index.tree
}

// hasher returns a hasher that computes blobs of worktree files as git would.
func (s *Store) hasher(root *os.Root) *convert.Hasher {
	return convert.New(s.git, s.config, s.repo.CommonDir, root)
}

// hashFiles returns the blobs that git would create for worktree files. Unreadable files
// have zero hashes.
func (s *Store) hashFiles(ctx context.Context, paths []string) ([]plumbing.Hash, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(s.repo.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return s.hasher(root).Hash(ctx, paths)
}
