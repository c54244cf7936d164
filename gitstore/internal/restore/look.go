package restore

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"
)

// A Look lists the files of a worktree that differ from the index, and the untracked ones, at its
// first use. Plans of one command share it. A plan reads the present content of each file anyway.
type Look struct{ modified, untracked looked }

// A looked is a list of files after the first use.
type looked struct {
	first sync.Once
	paths []string
	err   error
}

// once returns the list, which list makes at the first call.
func (l *looked) once(list func() ([]string, error)) ([]string, error) {
	l.first.Do(func() { l.paths, l.err = list() })
	return slices.Clone(l.paths), l.err
}

// modified returns the tracked files that may differ from the index.
func (s *worktree) modified(ctx context.Context) ([]string, error) {
	return s.look.modified.once(func() ([]string, error) {
		out, err := s.inRoot().Output(ctx, "diff-files", "-0", "-z", "--raw", "--no-renames", "--ignore-submodules=dirty")
		if err != nil {
			return nil, fmt.Errorf("list modified files: %w", err)
		}
		changes, _, err := git.ParseRaw(out)
		var paths []string
		for _, c := range changes {
			if c.OldMode != trees.ModeGitlink {
				paths = append(paths, c.Path)
			}
		}
		return paths, err
	})
}

// untracked returns the untracked files that git does not ignore.
func (s *worktree) untracked(ctx context.Context) ([]string, error) {
	return s.look.untracked.once(func() ([]string, error) {
		out, err := s.inRoot().Output(ctx, "ls-files", "--others", "--exclude-standard", "-z")
		if err != nil {
			return nil, fmt.Errorf("list untracked files: %w", err)
		}
		return git.Fields(out), nil
	})
}

// inRoot returns a git that runs in the worktree root.
func (s *Restorer) inRoot() git.Git {
	g := s.repo.Git
	g.Dir = s.repo.Info.Root
	return g
}
