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
type Look struct {
	mu                  sync.Mutex
	modified, untracked looked
}

// A looked is a list of files after the first use, which sets known.
type looked struct {
	paths []string
	known bool
}

// once returns the list at place, which list makes at the first call without an error. (A pointer
// to a pointer here would make builds of the program differ: go1.26 describes its type in some
// builds only.)
func (l *Look) once(place *looked, list func() ([]string, error)) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !place.known {
		paths, err := list()
		if err != nil {
			return nil, err
		}
		*place = looked{paths: paths, known: true}
	}
	return slices.Clone(place.paths), nil
}

// modifiedFiles returns the tracked files that may differ from the index.
func (s *Restorer) modifiedFiles(ctx context.Context, l *Look) ([]string, error) {
	list := func() ([]string, error) {
		g := s.repo.Git
		g.Dir = s.repo.Info.Root
		out, err := g.Output(ctx, "diff-files", "-0", "-z", "--raw", "--no-renames", "--ignore-submodules=dirty")
		if err != nil {
			return nil, fmt.Errorf("list modified files: %w", err)
		}
		changes, err := parseChanges(git.Fields(out))
		var paths []string
		for _, c := range changes {
			if c.Old.Mode != trees.ModeGitlink {
				paths = append(paths, c.Path)
			}
		}
		return paths, err
	}
	if l == nil {
		return list()
	}
	return l.once(&l.modified, list)
}

// untrackedFiles returns the untracked files that git does not ignore.
func (s *Restorer) untrackedFiles(ctx context.Context, l *Look) ([]string, error) {
	list := func() ([]string, error) {
		g := s.repo.Git
		g.Dir = s.repo.Info.Root
		out, err := g.Output(ctx, "ls-files", "--others", "--exclude-standard", "-z")
		if err != nil {
			return nil, fmt.Errorf("list untracked files: %w", err)
		}
		return git.Fields(out), nil
	}
	if l == nil {
		return list()
	}
	return l.once(&l.untracked, list)
}
