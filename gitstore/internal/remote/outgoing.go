package remote

import (
	"cmp"
	"context"
	"fmt"
	"io"
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
	Excluded []string        // "^<commit>" for commits that the remote has or receives anyway, the same for all chains of a push
}

// Showing returns the commits that each group of updates would publish to a remote. The number
// of git processes does not depend on the number of groups.
func (h Here) Showing(ctx context.Context, remote string, e Exposed, groups ...[]RefUpdate) ([]Outgoing, error) {
	excluded, err := h.shown(ctx, remote, e)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, commit := range excluded {
		known[commit] = true
	}
	outs, heads := make([]Outgoing, len(groups)), make([][]string, len(groups))
	var seen []string
	for n, updates := range groups {
		out, first := &outs[n], len(seen)
		out.Excluded = excluded
		for _, g := range updates {
			out.Tips = append(out.Tips, g.Tip.String())
			if !g.Seen.IsZero() {
				out.Seen = append(out.Seen, g.Seen)
				seen = append(seen, "^"+g.Seen.String())
			}
		}
		list, err := h.savedHeads(updates)
		if err != nil {
			return nil, err
		}
		heads[n] = slices.DeleteFunc(list, func(head string) bool {
			return known["^"+head] || slices.Contains(seen[first:], "^"+head) || h.History.IsGenesis(plumbing.NewHash(head))
		})
	}
	return outs, h.countUnpublished(ctx, outs, heads, slices.Concat(excluded, seen))
}

// countUnpublished sets Unpublished and Commits of outs from the HEADs of their checkpoints.
func (h Here) countUnpublished(ctx context.Context, outs []Outgoing, heads [][]string, excluded []string) error {
	u := unpublished{wanted: map[string]bool{}, place: map[string]int{}, parents: map[string][]string{}}
	var all []string
	for _, head := range slices.Concat(heads...) {
		if !u.wanted[head] {
			u.wanted[head] = true
			all = append(all, head)
		}
	}
	if len(all) == 0 {
		return nil
	}
	args := []string{"--parents"}
	if len(outs) == 1 || len(all) == 1 {
		args = append(args, "--max-count="+strconv.Itoa(MaxCommits))
	}
	walk, cancel := context.WithCancel(ctx)
	defer cancel()
	err := h.revs(walk, &lineWriter{f: func(line string) {
		if u.add(line); u.isEnough() {
			cancel()
		}
	}}, slices.Concat(all, excluded), args)
	if err != nil && !u.isEnough() {
		return err
	}
	counts := map[string]int{} // most issues have the same HEADs
	for n, list := range heads {
		key := strings.Join(list, " ")
		if _, known := counts[key]; !known {
			counts[key] = u.count(list)
		}
		if outs[n].Commits = counts[key]; outs[n].Commits > 0 {
			outs[n].Unpublished = u.newest(list)
		}
	}
	return nil
}

// maxGraph limits the unpublished commits that are kept in memory, newest first.
const maxGraph = 20 * MaxCommits

// An unpublished is a part of the history that the remote does not have, as git rev-list
// lists it: newest first.
type unpublished struct {
	wanted  map[string]bool     // HEADs
	place   map[string]int      // positions in the list, of HEADs and of the newest commits
	parents map[string][]string // of the newest commits
	lines   int
	heads   int // number of HEADs in the list
}

// add adds a line of git rev-list --parents.
func (u *unpublished) add(line string) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return
	}
	if u.wanted[words[0]] {
		u.heads++
	}
	if u.lines < maxGraph {
		u.parents[words[0]] = words[1:]
	}
	if u.lines < maxGraph || u.wanted[words[0]] {
		u.place[words[0]] = u.lines
	}
	u.lines++
}

// isEnough reports whether the remaining lines do not change the result.
func (u *unpublished) isEnough() bool { return u.lines >= maxGraph && u.heads == len(u.wanted) }

// newest returns the unpublished HEAD that git lists first.
func (u *unpublished) newest(heads []string) (newest string) {
	for _, head := range heads {
		at, ok := u.place[head]
		if ok && (newest == "" || at < u.place[newest]) {
			newest = head
		}
	}
	return newest
}

// count returns the number of unpublished commits that heads reach, at most MaxCommits.
func (u *unpublished) count(heads []string) int {
	seen, todo := map[string]bool{}, slices.Clone(heads)
	for len(todo) > 0 && len(seen) < MaxCommits {
		commit := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, ok := u.place[commit]; ok && !seen[commit] {
			seen[commit] = true
			todo = append(todo, u.parents[commit]...)
		}
	}
	return len(seen)
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

// Revs runs git rev-list. It ignores missing commits, since a remote may have commits
// that were never fetched.
func (h Here) Revs(ctx context.Context, commits []string, args ...string) (string, error) {
	var out strings.Builder
	err := h.revs(ctx, &out, commits, args)
	return out.String(), err
}

func (h Here) revs(ctx context.Context, out io.Writer, commits, args []string) error {
	args = append([]string{"rev-list", "--ignore-missing", "--stdin"}, args...)
	err := h.Git.Filter(ctx, strings.NewReader(strings.Join(commits, "\n")+"\n"), out, args...)
	if err != nil {
		return fmt.Errorf("walk commits: %w", err)
	}
	return nil
}

// savedHeads returns the HEAD commits of the checkpoints that updates add to their chains. They
// are the first parents of state commits.
func (h Here) savedHeads(updates []RefUpdate) (heads []string, err error) {
	found := map[plumbing.Hash]bool{}
	for _, g := range updates {
		ours, met, err := h.down(g.Tip, g.Seen)
		if err != nil {
			return nil, err
		}
		theirs := map[plumbing.Hash]bool{}
		if !met && !g.Seen.IsZero() {
			list, _, _ := h.down(g.Seen, plumbing.ZeroHash) // the remote may have commits that were never fetched
			for _, c := range list {
				theirs[c.hash] = true
			}
		}
		for _, c := range ours {
			if len(c.parents) < 2 || theirs[c.hash] {
				continue
			}
			parents, err := h.History.Parents(c.parents[1])
			if err != nil {
				return nil, err
			}
			if len(parents) > 0 && !found[parents[0]] {
				found[parents[0]] = true
				heads = append(heads, parents[0].String())
			}
		}
	}
	return heads, nil
}

// A step is a commit of a first-parent walk.
type step struct {
	hash    plumbing.Hash
	parents []plumbing.Hash
}

// down follows first parents from tip and reports whether it reached end. After an error, it
// returns the commits before.
func (h Here) down(tip, end plumbing.Hash) (list []step, met bool, err error) {
	for at := tip; at != end; {
		parents, err := h.History.Parents(at)
		if err != nil {
			return list, false, fmt.Errorf("walk commits: %w", err)
		}
		list = append(list, step{at, parents})
		if len(parents) == 0 {
			return list, false, nil
		}
		at = parents[0]
	}
	return list, true, nil
}

// PushedTo returns the push destination of a remote: its name, or the URL from pushurl or
// url.<base>.pushInsteadOf if that is another repository, such as a fork.
func PushedTo(config []git.ConfigEntry, name string) string {
	urls, pushURLs := configuredURLs(config, name)
	at := cmp.Or(urls...)
	var to string
	var isSame bool // the push URL is of the same repository
	if len(pushURLs) > 0 {
		to = mainPushURL(urls, pushURLs)
		isSame = to == at
	} else {
		var rewritten bool
		to, rewritten = instead(config, ".pushinsteadof", cmp.Or(at, name))
		from, _ := instead(config, ".insteadof", cmp.Or(at, name))
		way, _, _ := strings.Cut(to, "://")
		ports := strings.HasPrefix(from, way+"://") // each scheme uses its own port
		isSame = !rewritten || place(to, ports) == place(from, ports)
	}
	if isSame || strings.HasPrefix(to, "-") {
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
