package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// theirChain reads a chain fetched from a remote, and fails for an invalid chain.
func (s *Sharer) theirChain(ctx context.Context, remote string, i checkpoint.Issue, tip plumbing.Hash) (*chain.Chain, error) {
	c, err := s.chain.Walk(i, repo.LiveRef(i), tip, 0)
	if err == nil {
		err = c.CheckRoot()
	}
	if err == nil {
		err = c.Unread
	}
	if err != nil {
		return nil, s.corruptThere(ctx, remote, repo.LiveRef(i), tip, c, err)
	}
	c.Remote = remote
	return c, nil
}

// corruptThere returns the error of a damaged chain at a remote. The hint inspects the remote: verify reads local
// chains. If a commit without checkpoints replaced a chain that this clone knows there, the first hints delete the
// ref and sync, because a sync checks what it publishes.
func (s *Sharer) corruptThere(ctx context.Context, remote, ref string, tip plumbing.Hash, c *chain.Chain, err error) error {
	if !errors.As(err, new(*repo.CorruptError)) {
		return err
	}
	hint := chain.LookThere(remote, ref)
	if c != nil && !c.Rooted && len(c.Members()) == 0 {
		at := failure.QuoteStrict(chain.ShownRemote(remote))
		if known, _ := s.repo.ReadRef(ctx, s.chain.TrackingRef(remote, c.Issue)); !known.IsZero() && ref == repo.LiveRef(c.Issue) {
			hint = fmt.Sprintf("git push --force-with-lease=%s:%s %s %s\ngit checkpoint sync %s --remote %s\n%s", failure.QuoteStrict(ref), tip, at, failure.QuoteStrict(":"+ref), failure.IssueArg(string(c.Issue)), at, hint)
		}
	}
	if !s.repo.Objects.Has(tip) { // the damage is in the local remote-tracking ref
		hint = "git checkpoint doctor --fix"
	}
	return &repo.CorruptError{Object: chain.ShownRemote(remote), Err: err, Hint: hint}
}

// WarnInvalidRefs warns of chain refs whose names are not valid issues. They are skipped.
// at is a prefix that names the remote.
func (s *Sharer) WarnInvalidRefs(at string, names []string) {
	const few, longest = 3, 100
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	var shown []string
	for _, name := range names[:min(few, len(names))] {
		shown = append(shown, git.Shortened(name, longest))
	}
	more := ""
	if len(names) > few {
		more = fmt.Sprintf(" and %d more", len(names)-few)
	}
	s.repo.Notify("%signored, not valid issue keys: %s%s", at, strings.Join(shown, ", "), more)
}

// incoming fetches chains that are missing locally, and returns them by their refs at the remote. If a
// part of a chain is present, the fetch stops at the known commits. A new chain is fetched no deeper than
// the local history. there contains the refs of the remote, and here refs as returned by RefsHere.
func (y *Syncing) incoming(ctx context.Context, issues []checkpoint.Issue, there, here map[string]plumbing.Hash) (map[string]remote.FetchedRef, error) {
	in := map[string]remote.FetchedRef{}
	var fresh, known []string
	tracking := y.Sharer.chain.TrackingRefs(y.Conn.Remote)
	for _, i := range issues {
		ref := repo.LiveRef(i)
		switch tip, tracked := there[ref], here[tracking+i.RefName()]; {
		case tip.IsZero():
		case tip == tracked, tip == here[ref]:
			in[ref] = remote.FetchedRef{Tip: tip}
		case tracked.IsZero() && here[ref].IsZero() && here[repo.ArchiveRef(i)].IsZero():
			fresh = append(fresh, ref)
		default:
			known = append(known, ref)
		}
	}
	of := 0
	for ref := range there {
		if strings.HasPrefix(ref, repo.LiveRefs) {
			of++
		}
	}
	came, err := y.Conn.Fetch(ctx, fresh, known, of)
	maps.Copy(in, came)
	return in, err
}

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
