package capture

import (
	"context"
	"os"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git/convert"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// A CapturedSnapshot contains captured repository content and its HEAD.
type CapturedSnapshot struct {
	Head repo.Head
	*Snapshot
}

// Snapshot captures the index for a save of an issue, and the other files of the request.
func (s *Capturer) Snapshot(ctx context.Context, issue checkpoint.Issue, req Request, k *repo.ObjectWriter) (*CapturedSnapshot, error) {
	a, err := s.stagedState(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.checkReceived(ctx, a.Changes); err != nil {
		return nil, err
	}
	left, err := a.LeaveOut(req.MaxSize, s.Objects)
	if err != nil {
		return nil, err
	}
	snap, err := a.Begin(k, s.stagedBefore(ctx, issue, a.head.Commit))
	if err != nil {
		return nil, err
	}
	if !a.head.Commit.IsZero() {
		snap.Facts.Head = a.head.Commit.String()
	}
	snap.Facts.Skipped = left
	snap.Facts.Detached = a.head.Branch == ""
	snap.Facts.MergeHead = s.Info.MergeHeads()
	site := &Source{Git: s.Git, Config: s.Config, CommonDir: s.Info.CommonDir, Root: s.Info.Root}
	if err := site.Take(ctx, snap, req, k); err != nil {
		return nil, err
	}
	return &CapturedSnapshot{a.head, snap}, nil
}

// stagedBefore returns the staged tree of the newest commit in an issue's chain, or zero
// if that commit was saved on another HEAD.
func (s *Capturer) stagedBefore(ctx context.Context, issue checkpoint.Issue, head plumbing.Hash) plumbing.Hash {
	tip, err := s.ReadRef(ctx, repo.LiveRef(issue))
	if err != nil || tip.IsZero() {
		return plumbing.ZeroHash
	}
	commit, err := s.ReadCommit(tip)
	if err != nil || len(commit.Parents) != 2 {
		return plumbing.ZeroHash
	}
	index, err := s.ReadCommit(commit.Parents[1])
	if err != nil {
		return plumbing.ZeroHash
	}
	var on plumbing.Hash
	if len(index.Parents) > 0 {
		on = index.Parents[0]
	}
	if on != head {
		return plumbing.ZeroHash
	}
	return index.Tree
}

// hasher returns a hasher that computes blobs of worktree files as git would.
func (s *Capturer) hasher(root *os.Root) *convert.Hasher {
	return convert.New(s.Git, s.Config, s.Info.CommonDir, root)
}

// HashFiles returns the blobs that git would create for worktree files. Unreadable files
// have zero hashes.
func (s *Capturer) HashFiles(ctx context.Context, paths []string) ([]plumbing.Hash, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(s.Info.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return s.hasher(root).Hash(ctx, paths)
}
