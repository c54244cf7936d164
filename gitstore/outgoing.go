package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"

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

	tips    []string
	seen    []plumbing.Hash // where the remote's chains are
	without []string        // "^<commit>" of all that the remote has or gets anyway
}

// Outgoing looks at what a push of an issue's chain would show. A checkpoint
// carries HEAD as it was, which must be in the push already or on the remote,
// as far as this clone knows.
func (s *Store) Outgoing(ctx context.Context, remote string, i checkpoint.Issue, e Exposed) (Outgoing, error) {
	tip, err := s.readRef(ctx, LiveRef(i))
	if err != nil || tip.IsZero() {
		return Outgoing{Nothing: true}, err
	}
	seen, err := s.readRef(ctx, s.trackingRef(remote, i))
	if err != nil || seen == tip {
		return Outgoing{Nothing: true}, err
	}
	return s.showing(ctx, remote, e, gift{LiveRef(i), tip, seen})
}

// showing looks at what gifts would show to a remote.
func (s *Store) showing(ctx context.Context, remote string, e Exposed, gifts ...gift) (out Outgoing, err error) {
	if out.without, err = s.shown(ctx, remote, e); err != nil {
		return out, err
	}
	var seen []string
	for _, g := range gifts {
		out.tips = append(out.tips, g.tip.String())
		if !g.seen.IsZero() {
			out.seen = append(out.seen, g.seen)
			seen = append(seen, "^"+g.seen.String())
		}
	}
	out.without = append(out.without, seen...)
	heads, ok := s.headsOfAll(gifts)
	if !ok {
		heads, err = s.savedHeads(ctx, out.tips, seen)
	}
	heads = slices.DeleteFunc(heads, func(head string) bool { return slices.Contains(out.without, "^"+head) })
	if err != nil || len(heads) == 0 {
		return out, err
	}
	hidden, err := s.revs(ctx, append(heads, out.without...), "--max-count=1")
	out.Unpublished = strings.TrimSpace(hidden)
	return out, err
}

// shown are the commits that the remote has or gets, to leave out.
func (s *Store) shown(ctx context.Context, remote string, e Exposed) ([]string, error) {
	var without []string
	for _, hex := range append(e.Pushed[:len(e.Pushed):len(e.Pushed)], e.There...) {
		without = append(without, "^"+hex)
	}
	if !s.configured(remote) || s.pushedTo(remote) != remote {
		return without, nil
	}
	tracked, err := s.refValues(ctx, "refs/remotes/"+remote+"/")
	for name, hash := range tracked {
		if !s.nested(remote, name) {
			without = append(without, "^"+hash.String())
		}
	}
	return without, err
}

// nested reports whether a remote-tracking ref below a remote's name may be
// one of another remote, as refs/remotes/a/b/main where a and a/b are remotes.
func (s *Store) nested(remote, ref string) bool {
	for _, e := range s.config {
		name, ok := strings.CutPrefix(strings.TrimSuffix(e.Key, ".url"), "remote.")
		if ok && strings.HasPrefix(name, remote+"/") && strings.HasPrefix(ref, "refs/remotes/"+name+"/") {
			return true
		}
	}
	return false
}

// savedHeads are the HEADs of the checkpoints of chains that others, "^<tip>",
// do not have: the parents of their index commits.
func (s *Store) savedHeads(ctx context.Context, tips, seen []string) ([]string, error) {
	chain, err := s.revs(ctx, slices.Concat(tips, seen), "--first-parent", "--parents")
	if err != nil {
		return nil, err
	}
	index := column(chain, 2)
	if len(index) == 0 {
		return nil, nil
	}
	commits, err := s.revs(ctx, index, "--no-walk=unsorted", "--parents")
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

// revs asks git rev-list about commits. What is not here is passed over: a
// remote may have what was never fetched.
func (s *Store) revs(ctx context.Context, commits []string, args ...string) (string, error) {
	args = append([]string{"rev-list", "--ignore-missing", "--stdin"}, args...)
	out, err := s.git.Pipe(ctx, []byte(strings.Join(commits, "\n")+"\n"), args...)
	if err != nil {
		return "", fmt.Errorf("walk commits: %w", err)
	}
	return string(out), nil
}

// Fetched are commits that came from a remote: what any remote-tracking branch
// has, and where a shallow clone was cut.
func (s *Store) Fetched(ctx context.Context) Exposed {
	var e Exposed
	refs, err := s.refValues(ctx, "refs/remotes/")
	for _, hash := range refs {
		e.There = append(e.There, hash.String())
	}
	if data, readErr := os.ReadFile(filepath.Join(s.repo.CommonDir, "shallow")); err == nil && readErr == nil {
		e.There = append(e.There, strings.Fields(string(data))...)
	}
	return e
}
