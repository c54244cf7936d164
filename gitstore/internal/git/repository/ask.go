package repository

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/gitconfig"
)

// settings returns git's settings for a discovered repository. passed are the directories
// between its root and the working directory.
func settings(ctx context.Context, g git.Git, r Info, passed []string) ([]git.ConfigEntry, error) {
	path, err := git.Path()
	if err == nil && len(g.Env) == 0 {
		place := gitconfig.Place{Root: r.Root, Passed: passed, GitDir: r.Dir, CommonDir: r.CommonDir}
		if entries, plain := gitconfig.Read(place, path); plain {
			return entries, nil
		}
	}
	return g.Config(ctx)
}

// discover runs git rev-parse to find the repository. The root of the worktree is the
// last argument, because git stops there in a bare repository.
func discover(ctx context.Context, g git.Git) (Info, error) {
	out, err := g.Output(ctx, "rev-parse", "--git-dir", "--git-common-dir", "--git-path", "index",
		"--git-path", "objects", "--is-bare-repository", "--is-shallow-repository", "--show-prefix", "--show-toplevel")
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) < 6 {
		return Info{}, none(g.Dir, err)
	}
	if len(lines) > 8 {
		return Info{}, &UnsupportedError{Feature: "a line break in the repository's path"}
	}
	base, pathErr := physical(g.Dir)
	if pathErr != nil {
		return Info{}, fmt.Errorf("find the working directory: %w", pathErr)
	}
	abs := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(base, path)
	}
	r := Info{
		Dir: abs(lines[0]), CommonDir: abs(lines[1]), Index: abs(lines[2]), ObjectDir: abs(lines[3]),
		Bare: lines[4] == "true", Shallow: lines[5] == "true", RefFormat: "files",
	}
	if len(lines) == 8 && err == nil {
		r.Prefix, r.Root = lines[6], abs(lines[7])
	}
	return r, nil
}

// The error for a missing repository wraps ErrNone. For the usual reason, git's message
// contains no directory and repeats the text of ErrNone.
func none(dir string, err error) error {
	switch here, pathErr := physical(dir); {
	case err == nil:
		return fmt.Errorf("%w: git answered nothing", ErrNone)
	case pathErr == nil && strings.Contains(err.Error(), "(or any of the parent directories)"):
		return fmt.Errorf("%w: %s, nor is a folder above it", ErrNone, here)
	}
	return fmt.Errorf("%w: %w", ErrNone, err)
}
