package remote

import (
	"context"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// Exposed lists commits that others have or receive: commits sent by a git push, commits
// that the remote has according to that push, commits at the refs that the remote has listed, and
// the boundary of a shallow clone.
type Exposed struct {
	Pushed []string
	There  []string
	Listed []string
	Cut    []string

	Unknown string // a listed ref whose commit is not here, see Listed
}

// Listed returns the listed commits of a remote that this repository has, and a ref whose commit it
// lacks, so that the remote may have more: that of a branch, otherwise HEAD, otherwise any.
func Listed(r *repo.Repo, tips map[string]plumbing.Hash, branch string) (here []string, unknown string) {
	has := map[plumbing.Hash]bool{}
	for _, ref := range slices.Sorted(maps.Keys(tips)) {
		hash := tips[ref]
		if refs.Below(ref, []string{repo.LiveRefs, repo.ArchiveRefs}) {
			continue // chains, of which there can be thousands
		}
		if _, known := has[hash]; !known {
			if has[hash] = r.Objects.Has(hash); has[hash] {
				here = append(here, hash.String())
			}
		}
		if !has[hash] && (unknown == "" || ref == "refs/heads/"+branch) {
			unknown = ref
		}
	}
	return here, unknown
}

// Excluded returns "^<commit>" for commits that the remote has or receives anyway. If nothing is
// known about the remote, as for a URL, these are all commits that came from some remote.
// Otherwise the commits of the other remotes do not count.
func Excluded(ctx context.Context, r *repo.Repo, remote string, e Exposed) ([]string, error) {
	var without []string
	for _, hex := range slices.Concat(e.Pushed, e.There, e.Listed, e.Cut) {
		without = append(without, "^"+hex)
	}
	tracked, err := r.Refs.Values(ctx, "refs/remotes/")
	names := Names(r.Config)
	hasRefs := len(tracked) > 0 && Configured(r.Config, remote) && DestinationOf(ctx, r, remote).Same
	isKnown := len(e.Pushed)+len(e.There) > 0
	for name := range tracked {
		isKnown = isKnown || hasRefs && TrackedBy(names, name) == remote
	}
	for name, hash := range tracked {
		if by := TrackedBy(names, name); !isKnown || hasRefs && (by == remote || by == "") {
			without = append(without, "^"+hash.String())
		}
	}
	return without, err
}

// TrackedBy returns the remote of a remote-tracking ref, one of the configured names, or "". If both a
// and a/b are remotes, refs/remotes/a/b/main belongs to a/b.
func TrackedBy(names []string, ref string) (remote string) {
	for _, name := range names {
		if len(name) > len(remote) && strings.HasPrefix(ref, "refs/remotes/"+name+"/") {
			remote = name
		}
	}
	return remote
}
