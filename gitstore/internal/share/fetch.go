package share

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
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
