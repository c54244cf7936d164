package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// An OpenRemoteRequest selects a remote and its issues.
type OpenRemoteRequest struct {
	Remote   string
	Issues   []checkpoint.Issue // empty for all issues of the remote
	Archived bool               // archives as well as chains
	Timeout  time.Duration      // per connection; 0 for no timeout
	Quiet    bool               // do not prompt for a password
}

// OpenRemote opens a remote's chains as a separate store for reading. The caller must
// close it. The local repository does not change: missing objects are fetched into a
// temporary repository. If the remote supports filters, only commits are fetched.
func (s *Store) OpenRemote(ctx context.Context, req OpenRemoteRequest) (*Store, error) {
	refs, err := s.refs.Values(ctx, liveRefs, archiveRefs, bookRefs)
	if err != nil {
		return nil, err
	}
	known := map[plumbing.Hash]bool{}
	for _, hash := range refs {
		known[hash] = true
	}
	dir, err := os.MkdirTemp("", "git-checkpoint-*")
	if err != nil {
		return nil, fmt.Errorf("look at a remote: %w", err)
	}
	g, err := s.beside(ctx, dir)
	if err == nil {
		g.limitPromised(ctx, Options{Asks: func() bool { return !req.Quiet }})
		err = g.fetchTips(ctx, req, known)
	}
	if err == nil {
		err = g.openObjects()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return g, nil
}

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

// fetchTips fetches remote refs and missing commits of their chains.
func (s *Store) fetchTips(ctx context.Context, req OpenRemoteRequest, known map[plumbing.Hash]bool) error {
	l, err := s.connect("list", req.Remote, req.Timeout, req.Quiet)
	if err != nil {
		return err
	}
	prefixes, patterns := []string{liveRefs}, []string{}
	if req.Archived { // the pattern of the archive refs
		prefixes = append(prefixes, archiveRefs)
	}
	for _, prefix := range prefixes {
		for _, i := range req.Issues {
			patterns = append(patterns, prefix+i.RefName())
		}
		if len(req.Issues) == 0 {
			patterns = append(patterns, prefix+"*")
		}
	}
	tips, err := l.Tips(ctx, patterns...)
	if err != nil {
		return err
	}
	var here []byte
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(tips)) {
		switch {
		case !refs.Below(name, prefixes): // a pattern also matches name suffixes
		case known[tips[name]]:
			here = fmt.Appendf(here, "create %s\x00%s\x00", name, tips[name])
		default:
			missing = append(missing, name)
		}
	}
	if len(here) > 0 {
		if _, err := s.git.Pipe(ctx, here, "update-ref", "--stdin", "-z"); err != nil {
			return fmt.Errorf("look at %s: %w", ShownRemote(req.Remote), err)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return l.Commits(ctx, missing)
}
