package share

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// fetchListed lists the remote's refs, then fetches the chains of issues.
func (l *conn) fetchListed(ctx context.Context, issues []checkpoint.Issue) ([]checkpoint.Issue, fetched, error) {
	tips, issues, err := l.chains(ctx, issues)
	if err != nil {
		return nil, nil, err
	}
	here, err := l.s.RefsHere(ctx, l.Remote, issues)
	if err != nil {
		return nil, nil, err
	}
	in, err := l.incoming(ctx, issues, tips, here)
	return issues, in, err
}

// chains returns the remote tips of issues. Without issues it returns tips of all remote
// issues, sorted, and warns of invalid refs.
func (l *conn) chains(ctx context.Context, issues []checkpoint.Issue) (map[checkpoint.Issue]plumbing.Hash, []checkpoint.Issue, error) {
	there, err := l.ask(ctx, issues)
	if err != nil {
		return nil, nil, err
	}
	if len(issues) == 0 {
		l.s.WarnInvalidRefs(chain.ShownRemote(l.Remote)+": ", there.strange)
		issues = there.issues
		slices.Sort(issues)
	}
	return there.tips, issues, nil
}

// A listing contains a remote's chain refs.
type listing struct {
	issues  []checkpoint.Issue // in the order of their refs
	tips    map[checkpoint.Issue]plumbing.Hash
	strange []string // refs that name no issue
}

// ask lists the tips of issues at the remote, as chains does, but does not warn of
// invalid refs. So it can run concurrently with other work on the store.
func (l *conn) ask(ctx context.Context, issues []checkpoint.Issue) (listing, error) {
	var patterns []string
	for _, i := range issues {
		patterns = append(patterns, repo.LiveRef(i))
	}
	if len(issues) == 0 {
		patterns = []string{repo.LiveRefs + "*"}
	}
	there := listing{tips: map[checkpoint.Issue]plumbing.Hash{}}
	err := l.EachTip(ctx, patterns, func(name string, tip plumbing.Hash) {
		rest, ok := strings.CutPrefix(name, repo.LiveRefs)
		if !ok {
			return
		}
		i, err := checkpoint.IssueFromRef(rest)
		if err != nil {
			there.strange = append(there.strange, name)
			return
		}
		there.issues = append(there.issues, i)
		there.tips[i] = tip
	})
	return there, err
}

// WarnInvalidRefs warns of chain refs whose names are not valid issues. They are skipped.
// at is a prefix that names the remote.
func (s *Sharer) WarnInvalidRefs(at string, names []string) {
	const few = 3
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	shown, more := names[:min(few, len(names))], ""
	if len(names) > few {
		more = fmt.Sprintf(" and %d more", len(names)-few)
	}
	s.Notify("%sleft out, no issue is called so: %s%s", at, strings.Join(shown, ", "), more)
}

// incoming fetches chains that are missing locally. If a part of a chain is present, the
// fetch stops at the known commits. A new chain is fetched no deeper than the local
// history. here contains refs as returned by RefsHere.
func (l *conn) incoming(ctx context.Context, issues []checkpoint.Issue, tips map[checkpoint.Issue]plumbing.Hash, here map[string]plumbing.Hash) (fetched, error) {
	in := fetched{}
	var wanted []checkpoint.Issue
	var fresh, known []string
	tracking := l.s.TrackingRefs(l.Remote)
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
	came, err := l.Fetch(ctx, fresh, known)
	in.add(wanted, repo.LiveRef, came)
	return in, err
}

// FetchChainWithoutListing fetches the chain of one issue without listing the remote's refs
// first. If a listing is necessary, ok is false. known is set if a part of the chain is
// present.
func (l *conn) FetchChainWithoutListing(ctx context.Context, i checkpoint.Issue, known bool) (in fetched, ok bool, err error) {
	came, ok, err := l.FetchWithoutListing(ctx, repo.LiveRef(i), known)
	return fetched{i: came}, ok, err
}

// knows reports whether an issue's local refs may share commits with its remote chain.
func (s *Sharer) knows(remote string, i checkpoint.Issue, here map[string]plumbing.Hash) bool {
	return !here[s.TrackingRef(remote, i)].IsZero() || !here[repo.LiveRef(i)].IsZero() || !here[repo.ArchiveRef(i)].IsZero()
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
