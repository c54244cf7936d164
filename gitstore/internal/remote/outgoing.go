package remote

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Exposed are commits that others have, or are about to get: those that a git
// push sends, and those that it says the remote has.
type Exposed struct {
	Pushed []string
	There  []string
}

// Outgoing is what a push of an issue's chain would show to a remote.
type Outgoing struct {
	Nothing     bool   // the remote has the chain
	Unpublished string // a commit of the user's that would be published with it, "" for none

	Tips    []string
	Seen    []plumbing.Hash // where the remote's chains are
	Without []string        // "^<commit>" of all that the remote has or gets anyway
}

// Showing looks at what updates would show to a remote.
func (h Here) Showing(ctx context.Context, remote string, e Exposed, updates ...RefUpdate) (out Outgoing, err error) {
	if out.Without, err = h.shown(ctx, remote, e); err != nil {
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
	out.Without = append(out.Without, seen...)
	heads, ok := h.headsOfAll(updates)
	if !ok {
		heads, err = h.savedHeads(ctx, out.Tips, seen)
	}
	heads = slices.DeleteFunc(heads, func(head string) bool { return slices.Contains(out.Without, "^"+head) })
	if err != nil || len(heads) == 0 {
		return out, err
	}
	hidden, err := h.Revs(ctx, append(heads, out.Without...), "--max-count=1")
	out.Unpublished = strings.TrimSpace(hidden)
	return out, err
}

// shown are the commits that the remote has or gets, to leave out.
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

// nested reports whether a remote-tracking ref below a remote's name may be
// one of another remote, as refs/remotes/a/b/main where a and a/b are remotes.
func (h Here) nested(remote, ref string) bool {
	for _, e := range h.Config {
		name, ok := strings.CutPrefix(strings.TrimSuffix(e.Key, ".url"), "remote.")
		if ok && strings.HasPrefix(name, remote+"/") && strings.HasPrefix(ref, "refs/remotes/"+name+"/") {
			return true
		}
	}
	return false
}

// savedHeads are the HEADs of the checkpoints of chains that others, "^<tip>",
// do not have: the parents of their index commits.
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

// column is the words of one column, where a line has it.
func column(lines string, n int) []string {
	var words []string
	for line := range strings.Lines(lines) {
		if all := strings.Fields(line); len(all) > n {
			words = append(words, all[n])
		}
	}
	return words
}

// Revs asks git rev-list about commits. What is not here is passed over: a
// remote may have what was never fetched.
func (h Here) Revs(ctx context.Context, commits []string, args ...string) (string, error) {
	args = append([]string{"rev-list", "--ignore-missing", "--stdin"}, args...)
	out, err := h.Git.Pipe(ctx, []byte(strings.Join(commits, "\n")+"\n"), args...)
	if err != nil {
		return "", fmt.Errorf("walk commits: %w", err)
	}
	return string(out), nil
}
