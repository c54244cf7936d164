package remote

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// Exposed lists commits that others have or receive: commits sent by a git push, commits
// that the remote has according to that push, and the boundary of a shallow clone.
type Exposed struct {
	Pushed []string
	There  []string
	Cut    []string
}

// Outgoing lists commits that a push of an issue's chain would publish.
type Outgoing struct {
	Nothing     bool   // remote already has the chain
	Unpublished string // newest user commit that the push would publish, or ""
	Commits     int    // number of user commits that the push would publish, at most MaxCommits

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
	hidden, err := h.Revs(ctx, append(heads, out.Excluded...), "--max-count="+strconv.Itoa(MaxCommits))
	if commits := strings.Fields(hidden); len(commits) > 0 {
		out.Unpublished, out.Commits = commits[0], len(commits)
	}
	return out, err
}

// MaxCommits limits the number of commits that are counted for a question.
const MaxCommits = 1000

// shown returns commits to exclude because the remote has or receives them. If nothing is
// known about the remote, as for a URL, these are all commits that came from some remote.
// Otherwise the commits of the other remotes do not count.
func (h Here) shown(ctx context.Context, remote string, e Exposed) ([]string, error) {
	var without []string
	for _, hex := range slices.Concat(e.Pushed, e.There, e.Cut) {
		without = append(without, "^"+hex)
	}
	tracked, err := h.Refs.Values(ctx, "refs/remotes/")
	hasRefs := Configured(h.Config, remote) && PushedTo(h.Config, remote) == remote
	isKnown := len(e.Pushed)+len(e.There) > 0
	for name := range tracked {
		isKnown = isKnown || hasRefs && h.trackedBy(name) == remote
	}
	for name, hash := range tracked {
		if by := h.trackedBy(name); !isKnown || hasRefs && (by == remote || by == "") {
			without = append(without, "^"+hash.String())
		}
	}
	return without, err
}

// trackedBy returns the configured remote of a remote-tracking ref, or "". If both a and a/b
// are remotes, refs/remotes/a/b/main belongs to a/b.
func (h Here) trackedBy(ref string) (remote string) {
	for _, e := range h.Config {
		name, ok := strings.CutPrefix(strings.TrimSuffix(e.Key, ".url"), "remote.")
		if ok && len(name) > len(remote) && strings.HasPrefix(ref, "refs/remotes/"+name+"/") {
			remote = name
		}
	}
	return remote
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

// readHeads limits commits read before git runs instead, because a ref may contain a
// project's whole history.
const readHeads = 20_000

// headsOfAll is savedHeads without a git process. It returns ok only if all required
// commits are local.
func (h Here) headsOfAll(updates []RefUpdate) (heads []string, ok bool) {
	twice := map[plumbing.Hash]bool{}
	for _, g := range updates {
		index, ok := h.indexesAbove(g.Tip, g.Seen)
		if !ok {
			return nil, false
		}
		for _, hash := range index {
			parents, err := h.History.Parents(hash)
			if err != nil {
				return nil, false
			}
			if len(parents) > 0 && !twice[parents[0]] {
				twice[parents[0]] = true
				heads = append(heads, parents[0].String())
			}
		}
	}
	return heads, true
}

// indexesAbove returns index commits of the checkpoints at tip that are missing from the
// chain of seen. seen may be zero.
func (h Here) indexesAbove(tip, seen plumbing.Hash) (index []plumbing.Hash, ok bool) {
	ours, met, ok := h.down(tip, seen)
	if !ok {
		return nil, false
	}
	theirs := map[plumbing.Hash]bool{}
	if !seen.IsZero() && !met {
		list, _, ok := h.down(seen, plumbing.ZeroHash)
		if !ok {
			return nil, false
		}
		for _, c := range list {
			theirs[c.hash] = true
		}
	}
	for _, c := range ours {
		if len(c.parents) > 1 && !theirs[c.hash] {
			index = append(index, c.parents[1])
		}
	}
	return index, true
}

// A step is a commit of a first-parent walk.
type step struct {
	hash    plumbing.Hash
	parents []plumbing.Hash
}

// down follows first parents from tip and reports whether it reached end.
func (h Here) down(tip, end plumbing.Hash) (list []step, met, ok bool) {
	for at := tip; at != end; {
		parents, err := h.History.Parents(at)
		if err != nil || len(list) == readHeads {
			return nil, false, false
		}
		list = append(list, step{at, parents})
		if len(parents) == 0 {
			return list, false, true
		}
		at = parents[0]
	}
	return list, true, true
}

// PushedTo returns the push destination of a remote: its name, or the URL from pushurl or
// url.<base>.pushInsteadOf if that is another repository, such as a fork.
func PushedTo(config []git.ConfigEntry, name string) string {
	urls, pushURLs := configuredURLs(config, name)
	at := cmp.Or(urls...)
	if len(pushURLs) == 0 {
		return pushedInstead(config, name, cmp.Or(at, name))
	}
	to := mainPushURL(urls, pushURLs)
	if to == at || strings.HasPrefix(to, "-") {
		return name
	}
	return to
}

// pushedInstead returns the URL after pushInsteadOf. It returns name if the rewritten URL
// is the same repository, or if no setting applies.
func pushedInstead(config []git.ConfigEntry, name, url string) string {
	to, rewritten := instead(config, ".pushinsteadof", url)
	from, _ := instead(config, ".insteadof", url)
	if !rewritten || samePlace(to, from) || strings.HasPrefix(to, "-") {
		return name
	}
	return to
}

// instead rewrites a URL with the longest matching prefix of url.<base> settings.
func instead(config []git.ConfigEntry, setting, url string) (to string, rewritten bool) {
	to, longest := url, 0
	for _, e := range config {
		base, of := strings.CutPrefix(e.Key, "url.")
		base, ends := strings.CutSuffix(base, setting)
		if of && ends && len(e.Value) > longest && strings.HasPrefix(url, e.Value) {
			to, longest = base+url[len(e.Value):], len(e.Value)
		}
	}
	return to, longest > 0
}

// samePlace reports whether two URLs name the same repository. Ports are compared only if
// both URLs have the same scheme, since each scheme uses its own port.
func samePlace(a, b string) bool {
	way, _, _ := strings.Cut(a, "://")
	ports := strings.HasPrefix(b, way+"://")
	return place(a, ports) == place(b, ports)
}

// place returns host and path of a URL without its scheme, so that git@host:a/b.git
// equals https://host/a/b.
func place(url string, ports bool) string {
	url = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(url, "file://"), "/"), ".git")
	_, rest, web := strings.Cut(url, "://")
	if !web {
		host, path, scp := strings.Cut(url, ":")
		if !scp || strings.Contains(host, "/") {
			return url // local directory
		}
		rest = host + "/" + path
	}
	host, path, _ := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if i := strings.LastIndexByte(host, ':'); !ports && i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	return strings.ToLower(host) + "/" + strings.Trim(path, "/")
}
