package facts

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/repo"
)

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
