package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
)

// beside creates an empty repository that borrows objects and configuration from this
// repository. Remote-tracking data stays in the new repository.
func (s *Store) beside(ctx context.Context, dir string) (*Store, error) {
	g := &Store{now: s.now, random: s.random, people: s.people, onNotify: s.onNotify, temporary: dir}
	g.repo = repository.Info{
		Dir: dir, CommonDir: dir, ObjectDir: filepath.Join(dir, "objects"),
		Bare: true, Shallow: s.repo.Shallow, RefFormat: "files",
	}
	g.config = append(slices.Clone(s.config), git.ConfigEntry{Key: "remote.glimpse.promisor", Value: "true"})
	g.git = s.git.With("GIT_DIR="+dir, "GIT_COMMON_DIR="+dir, "GIT_OBJECT_DIRECTORY="+g.repo.ObjectDir)
	if g.git.Dir = s.repo.Root; g.git.Dir == "" {
		g.git.Dir = s.repo.CommonDir
	}
	g.openRefs()
	// The user's defaults for new repositories must not apply here.
	init := g.git.With("GIT_DEFAULT_HASH=sha1", "GIT_DEFAULT_REF_FORMAT=files")
	if _, err := init.Output(ctx, "init", "--quiet", "--bare", "--template="); err != nil {
		return nil, fmt.Errorf("look at a remote: %w", err)
	}
	config := filepath.Join(dir, "config")
	own, err := os.ReadFile(config)
	if err != nil {
		return nil, err
	}
	text := fmt.Appendf(nil, "[include]\n\tpath = %q\n%s", filepath.ToSlash(filepath.Join(s.repo.CommonDir, "config")), own)
	if err := os.WriteFile(config, text, 0o600); err != nil {
		return nil, err
	}
	if data, err := os.ReadFile(filepath.Join(s.repo.CommonDir, "shallow")); err == nil {
		if err := os.WriteFile(filepath.Join(dir, "shallow"), data, 0o600); err != nil {
			return nil, err
		}
	}
	info := filepath.Join(g.repo.ObjectDir, "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return nil, err
	}
	return g, os.WriteFile(filepath.Join(info, "alternates"), []byte(s.repo.ObjectDir+"\n"), 0o600)
}
