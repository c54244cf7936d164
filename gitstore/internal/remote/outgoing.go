package remote

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Exposed lists commits that others have or receive: commits sent by a git push, and
// commits that the remote has according to that push.
type Exposed struct {
	Pushed []string
	There  []string
}

// Outgoing lists commits that a push of an issue's chain would publish.
type Outgoing struct {
	Nothing     bool   // remote already has the chain
	Unpublished string // a user commit that the push would publish, or ""

	Tips     []string
	Seen     []plumbing.Hash // current tips of the remote's chains
	Excluded []string        // "^<commit>" for commits that the remote has or receives anyway
}

// Showing returns the commits that updates would publish to a remote.
func (h Here) Showing(ctx context.Context, remote string, e Exposed, updates ...RefUpdate) (out Outgoing, err error) {
	if out.Excluded, err = h.shown(ctx, remote, e); err != nil {
		return out, err
	}
	var seen []string
	for _, g := range updates {
		out.Tips = append(out.Tips, g.Tip.String())
		if !g.Seen.IsZero() {
			out.Seen = append(out.Seen, g.Seen)
			seen = append(seen, "^"+g.Seen.String())
		}
	}
	out.Excluded = append(out.Excluded, seen...)
	heads, ok := h.headsOfAll(updates)
	if !ok {
		heads, err = h.savedHeads(ctx, out.Tips, seen)
	}
	heads = slices.DeleteFunc(heads, func(head string) bool { return slices.Contains(out.Excluded, "^"+head) })
	if err != nil || len(heads) == 0 {
		return out, err
	}
	hidden, err := h.Revs(ctx, append(heads, out.Excluded...), "--max-count=1")
	out.Unpublished = strings.TrimSpace(hidden)
	return out, err
}

// shown returns commits to exclude because the remote has or receives them.
func (h Here) shown(ctx context.Context, remote string, e Exposed) ([]string, error) {
	var without []string
	for _, hex := range append(e.Pushed[:len(e.Pushed):len(e.Pushed)], e.There...) {
		without = append(without, "^"+hex)
	}
	if !Configured(h.Config, remote) || PushedTo(h.Config, remote) != remote {
		return without, nil
	}
	tracked, err := h.Refs.Values(ctx, "refs/remotes/"+remote+"/")
	for name, hash := range tracked {
		if !h.nested(remote, name) {
			without = append(without, "^"+hash.String())
		}
	}
	return without, err
}

// nested reports whether a remote-tracking ref may belong to another remote, for example
// refs/remotes/a/b/main if both a and a/b are remotes.
func (h Here) nested(remote, ref string) bool {
	for _, e := range h.Config {
		name, ok := strings.CutPrefix(strings.TrimSuffix(e.Key, ".url"), "remote.")
		if ok && strings.HasPrefix(name, remote+"/") && strings.HasPrefix(ref, "refs/remotes/"+name+"/") {
			return true
		}
	}
	return false
}

// savedHeads returns the HEAD commits of checkpoints reachable from tips and not from
// seen ("^<tip>"). They are the parents of index commits.
func (h Here) savedHeads(ctx context.Context, tips, seen []string) ([]string, error) {
	chain, err := h.Revs(ctx, slices.Concat(tips, seen), "--first-parent", "--parents")
	if err != nil {
		return nil, err
	}
	index := column(chain, 2)
	if len(index) == 0 {
		return nil, nil
	}
	commits, err := h.Revs(ctx, index, "--no-walk=unsorted", "--parents")
	return column(commits, 1), err
}

// column returns one column of words, skipping shorter lines.
func column(lines string, n int) []string {
	var words []string
	for line := range strings.Lines(lines) {
		if all := strings.Fields(line); len(all) > n {
			words = append(words, all[n])
		}
	}
	return words
}

// Revs runs git rev-list. It ignores missing commits, since a remote may have commits
// that were never fetched.
func (h Here) Revs(ctx context.Context, commits []string, args ...string) (string, error) {
	args = append([]string{"rev-list", "--ignore-missing", "--stdin"}, args...)
	out, err := h.Git.Pipe(ctx, []byte(strings.Join(commits, "\n")+"\n"), args...)
	if err != nil {
		return "", fmt.Errorf("walk commits: %w", err)
	}
	return string(out), nil
}
