package share

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// theirChain reads a chain fetched from a remote, and fails for an invalid chain.
func (s *Sharer) theirChain(remote string, i checkpoint.Issue, tip plumbing.Hash) (*chain.Chain, error) {
	c, err := s.chain.Walk(i, repo.LiveRef(i), tip, 0)
	if err == nil {
		err = c.CheckRoot()
	}
	if err == nil {
		err = c.Unread
	}
	if err != nil {
		return nil, s.corruptThere(remote, repo.LiveRef(i), tip, err)
	}
	c.Remote = remote
	return c, nil
}

// corruptThere returns the error of a damaged chain at a remote. The hint names a command
// that inspects the remote, since commands that verify local chains would not find the
// damage.
func (s *Sharer) corruptThere(remote, ref string, tip plumbing.Hash, err error) error {
	if !errors.As(err, new(*repo.CorruptError)) {
		return err
	}
	hint := chain.LookThere(remote, ref)
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

// incoming fetches chains that are missing locally. If a part of a chain is present, the
// fetch stops at the known commits. A new chain is fetched no deeper than the local
// history. there contains the refs of the remote, and here refs as returned by RefsHere.
func (l *conn) incoming(ctx context.Context, issues []checkpoint.Issue, there, here map[string]plumbing.Hash) (fetched, error) {
	in := fetched{}
	var wanted []checkpoint.Issue
	var fresh, known []string
	tracking := l.s.chain.TrackingRefs(l.Remote)
	for _, i := range issues {
		ref := repo.LiveRef(i)
		tip, tracked := there[ref], here[tracking+i.RefName()]
		switch {
		case tip.IsZero():
			continue
		case tip == tracked, tip == here[ref]:
			in[i] = remote.FetchedRef{Tip: tip}
			continue
		case tracked.IsZero() && here[ref].IsZero() && here[repo.ArchiveRef(i)].IsZero():
			fresh = append(fresh, ref)
		default:
			known = append(known, ref)
		}
		wanted = append(wanted, i)
	}
	of := 0
	for ref := range there {
		if strings.HasPrefix(ref, repo.LiveRefs) {
			of++
		}
	}
	came, err := l.Fetch(ctx, fresh, known, of)
	in.add(wanted, repo.LiveRef, came)
	return in, err
}

// fetched maps issues to fetched chains or archives.
type fetched map[checkpoint.Issue]remote.FetchedRef

// add adds fetched refs of issues, looked up by ref name.
func (in fetched) add(issues []checkpoint.Issue, refOf func(checkpoint.Issue) string, came map[string]remote.FetchedRef) {
	for _, i := range issues {
		a := came[refOf(i)]
		if a.Err != nil {
			a.Err = remote.Named("issue "+string(i), a.Err)
		}
		in[i] = a
	}
}
