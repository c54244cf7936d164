package share

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// OpenRemote is Store.OpenRemote of package gitstore.
func (s *Sharer) OpenRemote(ctx context.Context, req Request) (*repo.Repo, error) {
	known := map[plumbing.Hash]bool{}
	if !req.Whole {
		refs, err := s.repo.Refs.Values(ctx, repo.LiveRefs, repo.ArchiveRefs, repo.BookRefs)
		if err != nil {
			return nil, err
		}
		for _, hash := range refs {
			known[hash] = true
		}
	}
	dir, err := os.MkdirTemp("", "git-checkpoint-*")
	if err != nil {
		return nil, fmt.Errorf("open the remote: %w", err)
	}
	g, err := s.repo.Beside(ctx, dir)
	if err == nil && req.Whole {
		err = errors.Join(os.Remove(filepath.Join(g.Info.ObjectDir, "info", "alternates")), fsutil.IgnoreMissing(os.Remove(filepath.Join(dir, "shallow"))))
	}
	if err == nil {
		g.LimitPromised(ctx, repo.Options{Asks: func() bool { return !req.Quiet }})
		err = New(g, chain.New(g), operation.New(g)).fetchTips(ctx, req, known)
	}
	if err == nil {
		err = g.OpenObjects()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return g, nil
}

// HasBranch reports whether a remote has a branch. It asks for no password.
func (s *Sharer) HasBranch(ctx context.Context, remote, branch string, limit time.Duration) (bool, error) {
	l, err := s.Connect("list", remote, limit, true)
	if err != nil {
		return false, err
	}
	ref := "refs/heads/" + branch
	tips, err := l.Tips(ctx, ref)
	return !tips[ref].IsZero(), err
}

// fetchTips fetches remote refs and missing commits of their chains.
func (s *Sharer) fetchTips(ctx context.Context, req Request, known map[plumbing.Hash]bool) error {
	l, err := s.Connect("list", req.Remote, req.Timeout, req.Quiet)
	if err != nil {
		return err
	}
	prefixes, patterns := []string{repo.LiveRefs}, []string{}
	if req.Archived { // the pattern of the archive refs
		prefixes = append(prefixes, repo.ArchiveRefs)
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
	if len(tips) == 0 && err == nil && req.Whole { // the branches have HEADs of checkpoints
		prefixes = []string{"refs/heads/"}
		tips, err = l.Tips(ctx, "refs/heads/*")
	}
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
		if _, err := s.repo.Git.Pipe(ctx, here, "update-ref", "--stdin", "-z"); err != nil {
			return fmt.Errorf("look at %s: %w", chain.ShownRemote(req.Remote), err)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return l.Commits(ctx, missing)
}
