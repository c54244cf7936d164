package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/internal/git/repository"
)

// A Worktree is a worktree for the branch of a checkpoint.
type Worktree struct {
	Dir     string
	Created bool // WorktreeFor has created it

	branch, tip string // the branch that WorktreeFor created, and its tip
}

// WorktreeFor returns the worktree with a checkpoint's branch checked out. Otherwise it
// creates a worktree at dir. If the branch does not exist, WorktreeFor creates it from
// the remote-tracking branch with the same name, or at the checkpoint's HEAD.
func (s *Store) WorktreeFor(ctx context.Context, c *Checkpoint, dir string) (Worktree, error) {
	if c.Branch != "" {
		if at := repository.CheckedOut(ctx, s.git, c.Branch); at != "" {
			return Worktree{Dir: at}, isThere(at, c.Branch)
		}
	}
	args, err := s.worktreeArgs(ctx, c, dir)
	if err != nil {
		return Worktree{}, fmt.Errorf("worktree %s: %w", dir, err)
	}
	if _, err := s.git.Output(ctx, append([]string{"worktree", "add", "--quiet"}, args...)...); err != nil {
		return Worktree{}, fmt.Errorf("worktree %s: %w", dir, err)
	}
	p := Worktree{Dir: dir, Created: true}
	if at := slices.Index(args, "-b"); at >= 0 {
		p.branch = args[at+1]
		if p.tip, err = s.git.Line(ctx, "rev-parse", "--verify", "-q", "refs/heads/"+p.branch); err != nil {
			return Worktree{}, err
		}
	}
	return p, nil
}

// RemoveWorktree removes a worktree and branch that WorktreeFor created. If the worktree
// has changed since, git refuses and both stay.
func (s *Store) RemoveWorktree(ctx context.Context, p Worktree) error {
	git := s.git
	git.Dir = s.CommonDir() // the working directory must not be inside of the removed worktree
	if _, err := git.Output(ctx, "worktree", "remove", "--", p.Dir); err != nil || p.branch == "" {
		return err
	}
	if tip, err := git.Line(ctx, "rev-parse", "--verify", "-q", "refs/heads/"+p.branch); err != nil || tip != p.tip {
		return err
	}
	_, err := git.Output(ctx, "branch", "-q", "-D", "--", p.branch)
	return err
}

// isThere fails if git lists a worktree that was moved or removed without git.
func isThere(dir, branch string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &RefusedError{
		Reason: fmt.Sprintf("worktree %s: it has branch %s, and is not there", dir, branch),
		Hint:   "git worktree prune",
	}
}

// worktreeArgs returns the arguments of `git worktree add`.
func (s *Store) worktreeArgs(ctx context.Context, c *Checkpoint, dir string) ([]string, error) {
	st, err := s.openSnapshot(c)
	if err != nil {
		return nil, err
	}
	if c.Branch == "" {
		return []string{"--detach", "--", dir, st.head.String()}, nil
	}
	if strings.HasPrefix(c.Branch, "-") || strings.Contains(c.Branch, "@{") {
		return nil, corrupt(string(c.ID), "branch %q", c.Branch)
	}
	b, err := s.FindBranch(ctx, c.Branch, time.Time{})
	switch {
	case err != nil:
		return nil, err
	case b.Exists:
		return []string{"--", dir, c.Branch}, nil
	case len(b.Remote) > 0:
		return []string{"--track", "-b", c.Branch, "--", dir, slices.Min(b.Remote)}, nil
	case st.head.IsZero():
		return nil, &RefusedError{Reason: "the checkpoint was saved before the first commit"}
	}
	return []string{"-b", c.Branch, "--", dir, st.head.String()}, nil
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
