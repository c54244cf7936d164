package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/internal/git"
)

// ChangedSubmodules returns the paths of submodules that have other commits than the index
// names, or changes of their own. It starts git only if the worktree has a .gitmodules
// file, because most repositories have no submodule.
func (s *Capturer) ChangedSubmodules(ctx context.Context) ([]string, error) {
	const file = ".gitmodules"
	if s.repo.Info.Root == "" {
		return nil, nil
	}
	if _, err := os.Lstat(filepath.Join(s.repo.Info.Root, file)); err != nil {
		return nil, nil
	}
	g := s.repo.Git
	g.Dir = s.repo.Info.Root
	out, err := g.Output(ctx, "config", "--file", file, "--null", "--get-regexp", `^submodule\..*\.path$`)
	if err != nil {
		return nil, err
	}
	var places []string
	for _, entry := range git.Fields(out) {
		_, place, ok := strings.Cut(entry, "\n")
		if !ok || !filepath.IsLocal(filepath.FromSlash(place)) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(s.repo.Info.Root, filepath.FromSlash(place), ".git")); err == nil { // it is checked out
			places = append(places, ":(top,literal)"+place)
		}
	}
	if len(places) == 0 {
		return nil, nil
	}
	out, err = g.Output(ctx, append([]string{"diff-files", "-z", "--name-only", "--ignore-submodules=none", "--"}, places...)...)
	if err != nil {
		return nil, err
	}
	return git.Fields(out), nil
}
