package restore

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"git-checkpoint/gitstore/internal/git"
)

// A Look lists the files of a worktree that differ from the index, and the untracked ones, at its
// first use. Plans of one command share it. A plan reads the present content of each file anyway.
type Look struct {
	mu                  sync.Mutex
	modified, untracked *[]string // nil until the first use
}

// once returns the list at place, which list makes at the first call without an error.
func (l *Look) once(place **[]string, list func() ([]string, error)) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if *place == nil {
		paths, err := list()
		if err != nil {
			return nil, err
		}
		*place = &paths
	}
	return slices.Clone(**place), nil
}

// modifiedFiles returns the tracked files that may differ from the index.
func (s *Restorer) modifiedFiles(ctx context.Context, l *Look) ([]string, error) {
	list := func() ([]string, error) { return s.snapshot.ModifiedFiles(ctx) }
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
