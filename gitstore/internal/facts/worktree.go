package facts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/repo"
)

// A Worktree is a worktree for the branch of a checkpoint.
type Worktree struct {
	Dir     string
	Created bool // FindOrAddWorktree has created it

	branch, tip string // the branch that FindOrAddWorktree created, and its tip
}

// FindOrAddWorktree returns the worktree at dir if it has the checkpoint's branch checked out. It
// fails with a *RefusedError if another worktree has. Otherwise it creates a worktree at dir. If
// the branch does not exist, FindOrAddWorktree creates it from the remote-tracking branch with the
// same name, or at the checkpoint's HEAD.
func (s *Facts) FindOrAddWorktree(ctx context.Context, c *chain.Checkpoint, dir string) (Worktree, error) {
	if c.Branch != "" {
		if at := repository.CheckedOut(ctx, s.repo.Git, c.Branch); at != "" {
			if isSame(at, dir) {
				return Worktree{Dir: at}, s.completeCheckout(ctx, at)
			}
			return Worktree{}, checkedOutIn(at, c.Branch)
		}
	}
	if there, err := os.ReadDir(dir); err == nil && len(there) > 0 { // possibly of a killed git worktree add
		return Worktree{}, &repo.RefusedError{
			Reason: fmt.Sprintf("worktree %s: the directory exists and is not empty", dir),
			Hint:   "git checkpoint resume " + failure.IssueArg(string(c.Issue)) + " --worktree " + failure.QuoteStrict(dir+"-2"),
		}
	}
	args, err := s.worktreeArgs(ctx, c, dir)
	if err != nil {
		return Worktree{}, fmt.Errorf("worktree %s: %w", dir, err)
	}
	if _, err := s.repo.Git.Output(ctx, append([]string{"worktree", "add", "--quiet"}, args...)...); err != nil {
		return Worktree{}, fmt.Errorf("worktree %s: %w", dir, err)
	}
	p := Worktree{Dir: dir, Created: true}
	if at := slices.Index(args, "-b"); at >= 0 {
		p.branch = args[at+1]
		if p.tip, err = s.repo.Git.Line(ctx, "rev-parse", "--verify", "-q", "refs/heads/"+p.branch); err != nil {
			return Worktree{}, err
		}
	}
	return p, nil
}

// completeCheckout writes the files that a killed `git worktree add` has not checked out. Git writes
// the index last, so a worktree without an index is half made. Files that exist stay.
func (s *Facts) completeCheckout(ctx context.Context, dir string) error {
	g := s.repo.Git.With("GIT_DIR="+filepath.Join(dir, ".git"), "GIT_WORK_TREE="+dir)
	g.Dir = dir
	index, err := g.Line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return err
	}
	if _, err := os.Lstat(index); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := g.Output(ctx, "read-tree", "HEAD"); err != nil {
		return fmt.Errorf("complete the checkout of %s: %w", dir, err)
	}
	missing, err := g.Output(ctx, "ls-files", "--deleted", "-z")
	if err != nil {
		return err
	}
	if _, err := g.Pipe(ctx, missing, "checkout-index", "--quiet", "-u", "-z", "--stdin"); err != nil {
		return fmt.Errorf("complete the checkout of %s: %w", dir, err)
	}
	s.repo.Notify("completed the checkout of %s, which was interrupted", dir)
	return nil
}

// RemoveWorktree removes a worktree and branch that FindOrAddWorktree created. If the worktree
// has changed since, git refuses and both stay.
func (s *Facts) RemoveWorktree(ctx context.Context, p Worktree) error {
	git := s.repo.Git
	git.Dir = s.repo.CommonDir() // the working directory must not be inside of the removed worktree
	if _, err := git.Output(ctx, "worktree", "remove", "--", p.Dir); err != nil || p.branch == "" {
		return err
	}
	if tip, err := git.Line(ctx, "rev-parse", "--verify", "-q", "refs/heads/"+p.branch); err != nil || tip != p.tip {
		return err
	}
	_, err := git.Output(ctx, "branch", "-q", "-D", "--", p.branch)
	return err
}

// isSame reports whether two paths are the same directory.
func isSame(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// checkedOutIn returns the error about a branch that the worktree in a directory has. Git also
// lists a worktree that was moved or removed without git.
func checkedOutIn(dir, branch string) error {
	switch _, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return &repo.RefusedError{
			Reason: fmt.Sprintf("worktree %s: it has branch %s, and is not there", dir, branch),
			Hint:   "git worktree prune",
		}
	case err != nil:
		return err
	}
	return &repo.RefusedError{
		Reason: fmt.Sprintf("branch %s is checked out in %s", branch, dir),
		Hint:   "cd " + failure.QuoteStrict(dir),
	}
}

// worktreeArgs returns the arguments of `git worktree add`.
func (s *Facts) worktreeArgs(ctx context.Context, c *chain.Checkpoint, dir string) ([]string, error) {
	if c.Branch == "" {
		st, err := s.snapshot.OpenSnapshot(c)
		if err != nil {
			return nil, err
		}
		return []string{"--detach", "--", dir, st.Head.String()}, nil
	}
	if strings.HasPrefix(c.Branch, "-") || strings.Contains(c.Branch, "@{") {
		return nil, repo.Corrupt(string(c.ID), "branch %q", c.Branch)
	}
	if s.HasBranch(ctx, c.Branch) {
		return []string{"--", dir, c.Branch}, nil
	}
	remote, head, err := s.startOf(ctx, c, c.Branch)
	switch {
	case err != nil:
		return nil, err
	case remote != "":
		return []string{"--track", "-b", c.Branch, "--", dir, remote}, nil
	}
	return []string{"-b", c.Branch, "--", dir, head}, nil
}

// startOf returns the start of a branch that does not exist: the remote-tracking branch
// with the same name, or the checkpoint's HEAD.
func (s *Facts) startOf(ctx context.Context, c *chain.Checkpoint, branch string) (remote, head string, err error) {
	b, err := s.FindBranch(ctx, branch, time.Time{})
	if err != nil {
		return "", "", err
	}
	if len(b.Remote) > 0 {
		return slices.Min(b.Remote), "", nil
	}
	st, err := s.snapshot.OpenSnapshot(c)
	if err != nil {
		return "", "", err
	}
	if st.Head.IsZero() {
		return "", "", &repo.RefusedError{Reason: "the checkpoint was saved before the first commit"}
	}
	return "", st.Head.String(), nil
}

// EnterWorktree makes a worktree the working directory of this process, and unsets the
// environment variables that would make git use another worktree.
func EnterWorktree(dir string) error {
	if err := os.Chdir(dir); err != nil {
		return err
	}
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_PREFIX"} {
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return nil
}

// SwitchBranch switches this worktree to a branch with git switch, so uncommitted changes
// stay, and git refuses to overwrite them. If the branch of the checkpoint does not exist,
// SwitchBranch creates it from the remote-tracking branch with the same name, or at the
// checkpoint's HEAD. If another worktree has the branch checked out, it fails with a
// RefusedError.
func (s *Facts) SwitchBranch(ctx context.Context, c *chain.Checkpoint, name string) error {
	if at := s.CheckedOut(ctx, name); at != "" {
		return checkedOutIn(at, name)
	}
	args, err := s.switchArgs(ctx, c, name)
	if err != nil {
		return fmt.Errorf("switch to branch %s: %w", name, err)
	}
	g := s.repo.Git
	g.Dir = s.repo.Info.Root
	_, err = g.Output(ctx, append([]string{"switch", "--quiet"}, args...)...)
	var failed *git.CommandError
	if errors.As(err, &failed) && failed.Code > 0 {
		return &repo.RefusedError{Reason: failed.Error(), Hint: "git status"}
	}
	return err
}

// switchArgs returns the arguments of `git switch`.
func (s *Facts) switchArgs(ctx context.Context, c *chain.Checkpoint, name string) ([]string, error) {
	if strings.HasPrefix(name, "-") || strings.Contains(name, "@{") {
		return nil, repo.Corrupt(string(c.ID), "branch %q", name)
	}
	if s.HasBranch(ctx, name) {
		return []string{"--no-guess", name}, nil
	}
	remote, head, err := s.startOf(ctx, c, name)
	switch {
	case err != nil:
		return nil, err
	case remote != "":
		return []string{"--create", name, "--track", remote}, nil
	}
	return []string{"--create", name, head}, nil
}
