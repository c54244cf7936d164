package restore

import (
	"context"
	"slices"
	"sync"

	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// knownVersions returns a function that reports whether a checkpoint of c's chain holds a
// version of a path. Without all, only checkpoints before c and c itself count, and none that
// was saved in parallel to c. The chain is read at the first call.
func (s *Restorer) knownVersions(ctx context.Context, c *chain.Checkpoint, all bool) func(string, Side) bool {
	find := &trees.Finder{Reader: s.repo.Objects}
	roots := sync.OnceValue(func() []plumbing.Hash {
		var roots []plumbing.Hash
		seen := map[plumbing.Hash]bool{}
		for _, ref := range []string{repo.LiveRef(c.Issue), repo.ArchiveRef(c.Issue)} {
			chain, err := s.chain.ReadChain(ctx, c.Issue, ref, maxKnown)
			if err != nil {
				continue // an unreadable chain knows no version
			}
			line := chain.Lineage(c.ID)
			for _, other := range chain.Checkpoints() {
				if !all && (other.Clock > c.Clock || line.Lacks(&other)) {
					continue
				}
				for _, root := range s.snapshotTrees(&other) {
					if !seen[root] { // checkpoints share what did not change
						seen[root], roots = true, append(roots, root)
					}
				}
			}
		}
		return roots
	})
	return func(path string, version Side) bool {
		return slices.ContainsFunc(roots(), func(root plumbing.Hash) bool {
			mode, hash, err := find.Lookup(root, path)
			return err == nil && mode == version.Mode && hash == version.Hash
		})
	}
}

// maxKnown limits the checkpoints whose content is known, and so the memory for their trees.
const maxKnown = 200

// snapshotTrees returns the trees of a checkpoint's files.
func (s *Restorer) snapshotTrees(c *chain.Checkpoint) (roots []plumbing.Hash) {
	entries, err := trees.Read(s.repo.Objects, c.Tree)
	if err != nil {
		return nil
	}
	for _, name := range []string{"state", "staged"} {
		if e, ok := trees.Find(entries, name); ok {
			roots = append(roots, e.Hash)
		}
	}
	if e, ok := trees.Find(entries, "conflicts"); ok {
		if stages, err := trees.Read(s.repo.Objects, e.Hash); err == nil {
			for _, stage := range stages {
				roots = append(roots, stage.Hash)
			}
		}
	}
	return roots
}

// common returns the contents of the newest checkpoint from which both the files in this worktree
// and those of a checkpoint come, or nil if it is not known.
func (s *Restorer) common(ctx context.Context, c *chain.Checkpoint) *contents.Contents {
	id := s.chain.Here(c.Issue)
	if id == "" || id == c.ID {
		return nil
	}
	live, err := s.chain.ReadChain(ctx, c.Issue, repo.LiveRef(c.Issue), 0)
	if err != nil {
		return nil
	}
	base := live.Common(id, c.ID)
	if base == nil {
		return nil
	}
	st, err := s.snapshot.OpenSnapshot(base)
	if err != nil {
		return nil
	}
	return &st.Contents
}

// isParallel reports whether a checkpoint was saved in parallel to the files in this worktree:
// both have changes that the other lacks.
func (s *Restorer) isParallel(ctx context.Context, c *chain.Checkpoint) bool {
	heads := s.chain.Heads(c.Issue)
	if len(heads) == 0 || heads[0] == c.ID {
		return false
	}
	live, err := s.chain.ReadChain(ctx, c.Issue, repo.LiveRef(c.Issue), chain.RetentionDepth)
	if err != nil || !s.chain.SeenElsewhere(ctx, live) {
		return false
	}
	here := live.Find(heads[0])
	return here != nil && live.Lineage(c.ID).Lacks(here) && live.Lineage(heads...).Lacks(c)
}
