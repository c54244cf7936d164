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
		if err == nil && (at == dir || isSame(at, dir)) {
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
