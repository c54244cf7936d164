// Package facts gathers what package freshness judges: HEAD, branches, worktrees and their
// relation to a checkpoint.
package facts

import (
	"context"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/snapshot"
)

// Facts gathers facts about a repository and its checkpoints.
type Facts struct {
	repo     *repo.Repo
	chain    *chain.Chains
	snapshot *snapshot.Capturer
}

// New returns the Facts of a repository.
func New(r *repo.Repo, c *chain.Chains, s *snapshot.Capturer) *Facts { return &Facts{r, c, s} }

// A BranchReport contains known facts about a branch.
type BranchReport struct {
	Exists bool
	Once   bool     // this clone had the branch once
	Name   string   // new name after a rename, if that branch exists
	Remote []string // remote-tracking branches with this name
}

// FindBranch looks for a branch. Traces of a former branch are its configuration and the
// reflog of HEAD, which names the branches of every checkout.
func (s *Facts) FindBranch(ctx context.Context, name string, since time.Time) (BranchReport, error) {
	hash, err := s.repo.ReadRef(ctx, "refs/heads/"+name)
	if err != nil {
		return BranchReport{}, err
	}
	if !hash.IsZero() {
		return BranchReport{Exists: true}, nil
	}
	head, err := s.repo.ReadHead(ctx)
	if err != nil {
		return BranchReport{}, err
	}
	if head.Branch == name {
		return BranchReport{Exists: true}, nil // unborn
	}
	r := BranchReport{}
	r.Once, r.Name = s.OnceHad(ctx, name, since)
	r.Remote, err = s.tracking(ctx, name)
	return r, err
}

// SavedHere reports whether this clone saved a checkpoint, as the reflog of its issue or the chain of
// own/ shows.
func (s *Facts) SavedHere(ctx context.Context, c *chain.Checkpoint) bool {
	entries, err := s.repo.Reflog(ctx, repo.LiveRef(c.Issue))
	if err != nil {
		return false
	}
	for _, e := range entries {
		if id, _, _ := strings.Cut(strings.TrimPrefix(e.Message, "save: "), ";"); id == string(c.ID) {
			return true
		}
	}
	if !s.inChain(ctx, c, repo.OwnRef(c.Issue)) || s.inChain(ctx, c, repo.FetchedRef(c.Issue)) {
		return false
	}
	// Fetches update own/ as well, so own/ alone does not prove that this clone saved a checkpoint.
	tracking, err := s.repo.TrackingRefs(ctx, c.Issue)
	for name := range tracking {
		if s.inChain(ctx, c, name) {
			return false
		}
	}
	return err == nil
}

// inChain reports whether the newest checkpoints of the chain at ref include a given
// checkpoint.
func (s *Facts) inChain(ctx context.Context, c *chain.Checkpoint, ref string) bool {
	newest, err := s.chain.ReadChain(ctx, c.Issue, ref, chain.RetentionDepth)
	return err == nil && slices.ContainsFunc(newest.Commits, func(l chain.ChainCommit) bool { return l.ID == c.ID })
}

// Partial reports whether the clone is shallow or partial, and so may lack objects that
// other clones have.
func (s *Facts) Partial() bool {
	return s.repo.Info.Shallow || repository.Partial(s.repo.Config)
}
