package share

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// OpenRemote opens a remote's chains as a separate store for reading. The caller must
// close it. The local repository does not change: missing objects are fetched into a
// temporary repository. If the remote supports filters, only commits are fetched.
func (s *Sharer) OpenRemote(ctx context.Context, req Request) (*Sharer, error) {
	refs, err := s.Refs.Values(ctx, repo.LiveRefs, repo.ArchiveRefs, repo.BookRefs)
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
	g, err := s.Beside(ctx, dir)
	if err == nil {
		g.LimitPromised(ctx, repo.Options{Asks: func() bool { return !req.Quiet }})
		err = (&Sharer{Chains: &chain.Chains{Repo: g}}).fetchTips(ctx, req, known)
	}
	if err == nil {
		err = g.OpenObjects()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &Sharer{Chains: &chain.Chains{Repo: g}}, nil
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
		if _, err := s.Git.Pipe(ctx, here, "update-ref", "--stdin", "-z"); err != nil {
			return fmt.Errorf("look at %s: %w", chain.ShownRemote(req.Remote), err)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return l.Commits(ctx, missing)
}
