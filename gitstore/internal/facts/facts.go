// Package facts gathers what package freshness judges: HEAD, branches, worktrees and their
// relation to a checkpoint.
package facts

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
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

// Git locks a new worktree with the reason "initializing" until its files are there, and writes the
// index last. A killed `git worktree add` leaves this lock, an incomplete checkout and no index.

// findHalfMade returns the git directory of the half-made worktree at dir, or "". Git has not finished
// this worktree: the lock exists, or the index is missing.
func (s *Facts) findHalfMade(dir string) string {
	links, _ := filepath.Glob(filepath.Join(s.repo.Info.CommonDir, "worktrees", "*", "gitdir"))
	for _, link := range links {
		admin := filepath.Dir(link)
		reason, _ := os.ReadFile(filepath.Join(admin, "locked"))
		if fsutil.Exists(filepath.Join(admin, "index")) && strings.TrimSpace(string(reason)) != "initializing" {
			continue
		}
		to, err := os.ReadFile(link)
		at := filepath.Dir(string(bytes.TrimSpace(to)))
		if !filepath.IsAbs(at) { // worktree.useRelativePaths
			at = filepath.Join(admin, at)
		}
		if err == nil && (at == dir || fsutil.IsSame(at, dir)) {
			return admin
		}
	}
	return ""
}

// complete finishes the half-made worktree at dir for a checkpoint, and reports whether it is one. If git
// was killed before it set HEAD, complete removes the empty worktree instead. It fails with a
// *RefusedError if git is still at work.
func (s *Facts) complete(ctx context.Context, c *chain.Checkpoint, dir, admin string) (bool, error) {
	index, lock := filepath.Join(admin, "index"), filepath.Join(admin, "locked")
	s.repo.Refs.SetAside(index + ".lock")
	if fsutil.Exists(index + ".lock") {
		return false, &repo.RefusedError{Reason: "git is creating it", Hint: "git worktree list"}
	}
	g := s.repo.Git.With("GIT_DIR="+admin, "GIT_WORK_TREE="+dir, "GIT_INDEX_FILE="+index)
	g.Dir = dir
	if head, err := g.Line(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}"); err != nil || head == "" {
		if !fsutil.Exists(lock) { // an unborn branch
			return false, nil
		}
		return false, s.discard(ctx, dir)
	}
	if branch, err := g.Line(ctx, "symbolic-ref", "-q", "HEAD"); err == nil && c.Branch != strings.TrimPrefix(branch, "refs/heads/") {
		return false, nil
	}
	g.Replacements = true // as in git worktree add
	if !fsutil.Exists(index) {
		if _, err := g.Output(ctx, "read-tree", "-m", "HEAD"); err != nil {
			return false, err
		}
	}
	if err := completeFiles(ctx, g); err != nil {
		return false, err
	}
	s.repo.Notify("completed the checkout of %s, which was interrupted", dir)
	return true, fsutil.IgnoreMissing(os.Remove(lock))
}

// discard removes a half-made worktree that has no file yet.
func (s *Facts) discard(ctx context.Context, dir string) error {
	if names, err := os.ReadDir(dir); err == nil && len(names) == 1 && names[0].Name() == ".git" {
		if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
			return err
		}
	}
	if err := fsutil.IgnoreMissing(os.Remove(dir)); err != nil {
		return nil // git reports the files
	}
	_, err := s.repo.Git.Output(ctx, "worktree", "remove", "--force", "--force", "--", dir)
	return err
}

// completeFiles creates missing and truncated files of the index of g. Files with other content are kept.
func completeFiles(ctx context.Context, g git.Git) error {
	_, _ = g.Output(ctx, "update-index", "-q", "--refresh") // fails if a file is missing
	changed, err := g.Output(ctx, "diff-files", "--name-only", "-z")
	if err != nil {
		return err
	}
	var missing bytes.Buffer
	for _, name := range git.Fields(changed) {
		now, err := os.ReadFile(filepath.Join(g.Dir, filepath.FromSlash(name)))
		if err == nil {
			want, err := g.Output(ctx, "cat-file", "--filters", ":"+name)
			if err != nil || !bytes.HasPrefix(want, now) {
				continue
			}
		}
		missing.WriteString(name + "\x00")
	}
	if missing.Len() == 0 {
		return nil
	}
	_, err = g.Pipe(ctx, missing.Bytes(), "checkout-index", "-q", "-f", "-u", "-z", "--stdin")
	return err
}
