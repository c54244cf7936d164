package facts

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/repo"
)

// Git locks a new worktree with the reason "initializing" until its files are there, and writes the
// index last. A killed `git worktree add` leaves this lock, an incomplete checkout and no index.

// A halfMade is a worktree that git has not finished. The lock exists, or the index is missing.
type halfMade struct {
	dir   string // of the worktree
	admin string // git directory of the worktree
}

// findHalfMade returns the half-made worktree at dir, or nil.
func (s *Facts) findHalfMade(dir string) *halfMade {
	links, _ := filepath.Glob(filepath.Join(s.repo.Info.CommonDir, "worktrees", "*", "gitdir"))
	for _, link := range links {
		h := &halfMade{dir, filepath.Dir(link)}
		reason, _ := os.ReadFile(h.lock())
		if fsutil.Exists(h.index()) && strings.TrimSpace(string(reason)) != "initializing" {
			continue
		}
		to, err := os.ReadFile(link)
		at := filepath.Dir(string(bytes.TrimSpace(to)))
		if !filepath.IsAbs(at) { // worktree.useRelativePaths
			at = filepath.Join(h.admin, at)
		}
		if err == nil && (at == dir || isSame(at, dir)) {
			return h
		}
	}
	return nil
}

func (h *halfMade) lock() string  { return filepath.Join(h.admin, "locked") }
func (h *halfMade) index() string { return filepath.Join(h.admin, "index") }

// git returns a runner of git in the worktree.
func (h *halfMade) git(g git.Git) git.Git {
	g.Dir = h.dir
	return g.With("GIT_DIR="+h.admin, "GIT_WORK_TREE="+h.dir, "GIT_INDEX_FILE="+h.index())
}

// complete finishes a half-made worktree for a checkpoint, and reports whether it is one. If git
// was killed before it set HEAD, complete removes the empty worktree instead. It fails with a
// *RefusedError if git is still at work.
func (s *Facts) complete(ctx context.Context, c *chain.Checkpoint, h *halfMade) (bool, error) {
	s.repo.Refs.SetAside(h.index() + ".lock")
	if fsutil.Exists(h.index() + ".lock") {
		return false, &repo.RefusedError{Reason: "git is creating it", Hint: "git worktree list"}
	}
	g := h.git(s.repo.Git)
	if head, err := g.Line(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}"); err != nil || head == "" {
		if !fsutil.Exists(h.lock()) { // an unborn branch
			return false, nil
		}
		return false, s.discard(ctx, h)
	}
	if branch, err := g.Line(ctx, "symbolic-ref", "-q", "HEAD"); err == nil && c.Branch != strings.TrimPrefix(branch, "refs/heads/") {
		return false, nil
	}
	if err := h.checkout(ctx, g); err != nil {
		return false, err
	}
	s.repo.Notify("completed the checkout of %s, which was interrupted", h.dir)
	return true, fsutil.IgnoreMissing(os.Remove(h.lock()))
}

// discard removes a half-made worktree that has no file yet.
func (s *Facts) discard(ctx context.Context, h *halfMade) error {
	if names, err := os.ReadDir(h.dir); err == nil && len(names) == 1 && names[0].Name() == ".git" {
		if err := os.Remove(filepath.Join(h.dir, ".git")); err != nil {
			return err
		}
	}
	if err := fsutil.IgnoreMissing(os.Remove(h.dir)); err != nil {
		return nil // git reports the files
	}
	_, err := s.repo.Git.Output(ctx, "worktree", "remove", "--force", "--force", "--", h.dir)
	return err
}

// checkout creates missing and truncated files of HEAD. Files with other content are kept.
func (h *halfMade) checkout(ctx context.Context, g git.Git) error {
	g.Replacements = true // as in git worktree add
	if !fsutil.Exists(h.index()) {
		if _, err := g.Output(ctx, "read-tree", "-m", "HEAD"); err != nil {
			return err
		}
	}
	_, _ = g.Output(ctx, "update-index", "-q", "--refresh") // fails if a file is missing
	changed, err := g.Output(ctx, "diff-files", "--name-only", "-z")
	if err != nil {
		return err
	}
	var missing bytes.Buffer
	for name := range strings.SplitSeq(strings.TrimSuffix(string(changed), "\x00"), "\x00") {
		if name == "" {
			continue
		}
		now, err := os.ReadFile(filepath.Join(h.dir, filepath.FromSlash(name)))
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
