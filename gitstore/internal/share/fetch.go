package share

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// A listing contains a remote's chain refs.
type listing struct {
	tips    map[checkpoint.Issue]plumbing.Hash
	strange []string // refs that name no issue
}

// ask lists the tips of issues at the remote, or of all issues for an empty list. It can run
// concurrently with other work on the store.
func (l *conn) ask(ctx context.Context, issues []checkpoint.Issue) (listing, error) {
	var patterns []string
	for _, i := range issues {
		patterns = append(patterns, repo.LiveRef(i))
	}
	if len(issues) == 0 || len(issues) > chain.ListAbove {
		patterns = []string{repo.LiveRefs + "*"}
	}
	there := listing{tips: map[checkpoint.Issue]plumbing.Hash{}}
	tips, err := l.Tips(ctx, patterns...)
	for name, tip := range tips {
		rest, ok := strings.CutPrefix(name, repo.LiveRefs)
		if !ok {
			continue // a pattern also matches name suffixes
		}
		if i, err := checkpoint.IssueFromRef(rest); err == nil {
			there.tips[i] = tip
		} else {
			there.strange = append(there.strange, name)
		}
	}
	return there, err
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
// history. here contains refs as returned by RefsHere.
func (l *conn) incoming(ctx context.Context, issues []checkpoint.Issue, tips map[checkpoint.Issue]plumbing.Hash, here map[string]plumbing.Hash) (fetched, error) {
	in := fetched{}
	var wanted []checkpoint.Issue
	var fresh, known []string
	tracking := l.s.chain.TrackingRefs(l.Remote)
	for _, i := range issues {
		tracked := here[tracking+i.RefName()]
		switch {
		case tips[i].IsZero():
			continue
		case tracked == tips[i]:
			in[i] = remote.FetchedRef{Tip: tracked}
			continue
		case !l.s.knows(l.Remote, i, here):
			fresh = append(fresh, repo.LiveRef(i))
		default:
			known = append(known, repo.LiveRef(i))
		}
		wanted = append(wanted, i)
	}
	came, err := l.Fetch(ctx, fresh, known, len(tips))
	in.add(wanted, repo.LiveRef, came)
	return in, err
}

// checkFormat fails if the remote has the other object format. Git does not report this if
// the remote lacks a ref. The check lists the remote's refs, unless the repository has refs
// from this remote.
func (l *conn) checkFormat(ctx context.Context) error {
	prefixes := []string{l.s.chain.TrackingRefs(l.Remote)}
	if remote.Configured(l.s.repo.Config, l.Remote) {
		prefixes = append(prefixes, "refs/remotes/"+l.Remote+"/")
	}
	tracked, err := l.s.repo.Refs.Values(ctx, prefixes...)
	if err != nil || len(tracked) > 0 {
		return err
	}
	_, err = l.Tips(ctx)
	return err
}

// knows reports whether an issue's local refs may share commits with its remote chain.
func (s *Sharer) knows(remote string, i checkpoint.Issue, here map[string]plumbing.Hash) bool {
	return !here[s.chain.TrackingRef(remote, i)].IsZero() || !here[repo.LiveRef(i)].IsZero() || !here[repo.ArchiveRef(i)].IsZero()
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

// forget deletes the temporary refs of a fetch.
func (l *conn) forget(ctx context.Context, in fetched) {
	l.Forget(ctx, slices.Collect(maps.Values(in))...)
}
