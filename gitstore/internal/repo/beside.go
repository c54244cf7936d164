package repo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
)

// Beside creates an empty repository that borrows objects and configuration from this
// repository. Remote-tracking data stays in the new repository.
func (s *Repo) Beside(ctx context.Context, dir string) (*Repo, error) {
	g := &Repo{Now: s.Now, Random: s.Random, people: s.people, onNotify: s.onNotify, temporary: dir}
	g.Info = repository.Info{
		Dir: dir, CommonDir: dir, ObjectDir: filepath.Join(dir, "objects"),
		Bare: true, Shallow: s.Info.Shallow, RefFormat: "files",
	}
	g.Config = append(slices.Clone(s.Config), git.ConfigEntry{Key: "remote.glimpse.promisor", Value: "true"})
	g.Git = s.Git.With("GIT_DIR="+dir, "GIT_COMMON_DIR="+dir, "GIT_OBJECT_DIRECTORY="+g.Info.ObjectDir)
	if g.Git.Dir = s.Info.Root; g.Git.Dir == "" {
		g.Git.Dir = s.Info.CommonDir
	}
	g.openRefs()
	// The user's defaults for new repositories must not apply here.
	init := g.Git.With("GIT_DEFAULT_HASH=sha1", "GIT_DEFAULT_REF_FORMAT=files")
	if _, err := init.Output(ctx, "init", "--quiet", "--bare", "--template="); err != nil {
		return nil, fmt.Errorf("look at a remote: %w", err)
	}
	config := filepath.Join(dir, "config")
	own, err := os.ReadFile(config)
	if err != nil {
		return nil, err
	}
	text := fmt.Appendf(nil, "[include]\n\tpath = %q\n%s", filepath.ToSlash(filepath.Join(s.Info.CommonDir, "config")), own)
	if err := os.WriteFile(config, text, 0o600); err != nil {
		return nil, err
	}
	if data, err := os.ReadFile(filepath.Join(s.Info.CommonDir, "shallow")); err == nil {
		if err := os.WriteFile(filepath.Join(dir, "shallow"), data, 0o600); err != nil {
			return nil, err
		}
	}
	info := filepath.Join(g.Info.ObjectDir, "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return nil, err
	}
	return g, os.WriteFile(filepath.Join(info, "alternates"), []byte(s.Info.ObjectDir+"\n"), 0o600)
}
