package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// OpenRemote is Store.OpenRemote of package gitstore.
func (s *Sharer) OpenRemote(ctx context.Context, req Request) (*repo.Repo, error) {
	dir, err := os.MkdirTemp("", "git-checkpoint-*")
	if err != nil {
		return nil, fmt.Errorf("open the remote: %w", err)
	}
	g, err := s.repo.Beside(ctx, dir)
	if err == nil && req.Whole {
		err = errors.Join(os.Remove(filepath.Join(g.Info.ObjectDir, "info", "alternates")), fsutil.IgnoreMissing(os.Remove(filepath.Join(dir, "shallow"))))
	}
	if err == nil {
		g.LimitPromised(ctx, req.Quiet)
		err = New(g, chain.New(g), operation.New(g)).fetchTips(ctx, req)
	}
	if err == nil {
		err = g.OpenObjects()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return g, nil
}

// Tips lists the refs of a remote. It asks for no password.
func (s *Sharer) Tips(ctx context.Context, name string, limit time.Duration) (map[string]plumbing.Hash, error) {
	l, err := s.Connect(ctx, "list", name, limit, true)
	if err != nil {
		return nil, err
	}
	return l.Tips(ctx)
}

// FetchBranch fetches a branch of a configured remote to its remote-tracking ref, also in a clone of other
// branches. A branch that the remote lacks is no error.
func (s *Sharer) FetchBranch(ctx context.Context, req Request, branch string) error {
	l, err := s.Connect(ctx, "fetch", req.Remote, req.Timeout, req.Quiet)
	if err != nil {
		return err
	}
	ref := "refs/heads/" + branch
	tips, err := l.Tips(ctx)
	if err != nil || branch == "HEAD" || tips[ref].IsZero() || !remote.Configured(s.repo.Config, req.Remote) {
		return err
	}
	in, err := l.Fetch(ctx, nil, []string{ref}, 0)
	if err = cmp.Or(err, in[ref].Err); err != nil {
		return err
	}
	defer l.Forget(ctx, in[ref])
	_, err = s.repo.Git.Output(ctx, "update-ref", "--no-deref", "-m", "fetch", "refs/remotes/"+req.Remote+"/"+branch, in[ref].Tip.String())
	return err
}

// fetchTips fetches remote refs, and the commits of their chains that are missing here.
func (s *Sharer) fetchTips(ctx context.Context, req Request) error {
	l, err := s.Connect(ctx, "list", req.Remote, req.Timeout, req.Quiet)
	if err != nil {
		return err
	}
	prefixes, names := []string{repo.LiveRefs}, []string{"*"}
	if req.Archived {
		prefixes = append(prefixes, repo.ArchiveRefs)
	}
	if len(req.Issues) > 0 {
		names = nil
	}
	for _, i := range req.Issues {
		names = append(names, i.RefName())
	}
	for _, prefix := range prefixes {
		for _, name := range names {
			if err := l.Commits(ctx, prefix+name); err != nil {
				return err
			}
		}
	}
	if came, err := s.repo.Refs.Values(ctx, prefixes...); !req.Whole || err != nil || len(came) > 0 {
		return err
	}
	return l.Commits(ctx, "refs/heads/*") // the branches have HEADs of checkpoints
}
