package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrStale reports that a remote ref differs from the expected value.
var ErrStale = errors.New("the remote has changed in the meantime")

// A RefUpdate pushes Tip to Ref if the remote ref is at Seen. A zero Seen means
// that the ref must not exist.
type RefUpdate struct {
	Ref       string
	Tip, Seen plumbing.Hash
}

// Push pushes commits. If the remote refuses refs, it lists them again: if a ref has moved,
// the push lost a race. If a ref has not moved, another push may hold its lock. It returns an
// error for each ref that does not have its commit at the remote: ErrStale if it has another commit
// than expected or another push may have locked it, otherwise an *Error with the server's reason.
// The second result reports a failed connection.
func (l *Conn) Push(ctx context.Context, updates ...RefUpdate) (map[string]error, error) {
	outcome, refusals, err := l.push(ctx, updates)
	if err != nil || len(refusals) == 0 {
		return outcome, err
	}
	tips, err := l.Tips(ctx)
	for _, r := range refusals {
		switch tip := tips[r.Ref]; {
		case err == nil && tip == r.Tip:
		case err == nil && tip != r.Seen:
			outcome[r.Ref] = fmt.Errorf("%w: %s", ErrStale, r.reason)
		case err == nil && !r.isRule():
			outcome[r.Ref] = fmt.Errorf("%w: %w", ErrStale, r.err)
		default:
			outcome[r.Ref] = r.err
		}
	}
	return outcome, nil
}

// fewUpdates is the number of ref updates up to which one git push gets a lease for each.
// Git compares each lease and each refspec with each ref.
const fewUpdates = 8

// leasesAtOnce limits the leases of one git push.
const leasesAtOnce = 100

// errRewritten reports that a ref was not pushed, because its tip does not extend the value of the
// remote ref.
var errRewritten = fmt.Errorf("%w: non-fast-forward", ErrStale)

// push pushes updates of refs in one folder. It returns errors of refs that were not pushed, and
// separately refusals that leave the remote value unknown. Any number of updates that extend the
// value of their refs takes one git push: git refuses the others, so no lease is necessary. The
// error means that no push was answered.
func (l *Conn) push(ctx context.Context, updates []RefUpdate) (outcome map[string]error, refusals []refusal, err error) {
	outcome, left := map[string]error{}, updates
	if len(updates) > fewUpdates {
		if outcome, refusals, err = l.pushTogether(ctx, updates); err != nil {
			return nil, nil, err
		}
		left = slices.DeleteFunc(slices.Clone(updates), func(g RefUpdate) bool { return outcome[g.Ref] != errRewritten })
	}
	answered := len(left) < len(updates)
	for some := range slices.Chunk(left, leasesAtOnce) {
		said, more, failed := l.pushLeased(ctx, some)
		for _, g := range some {
			if delete(outcome, g.Ref); failed != nil {
				outcome[g.Ref] = failed
			}
		}
		err, answered, refusals = failed, answered || failed == nil, append(refusals, more...)
		maps.Copy(outcome, said)
	}
	if !answered {
		return nil, nil, err
	}
	return outcome, refusals, nil
}

// pushTogether pushes updates with one refspec, which has a pattern: 10,000 refspecs and leases
// take more than a minute. Such a refspec needs refs as its source. They are in a temporary
// repository that borrows the objects of this one.
func (l *Conn) pushTogether(ctx context.Context, updates []RefUpdate) (outcome map[string]error, refusals []refusal, err error) {
	dir, err := os.MkdirTemp("", "git-checkpoint-*")
	if err != nil {
		return nil, nil, fmt.Errorf("push %d refs: %w", len(updates), err)
	}
	defer os.RemoveAll(dir)
	source, err := l.repo.Beside(ctx, dir)
	if err != nil {
		return nil, nil, fmt.Errorf("push %d refs: %w", len(updates), err)
	}
	packed := []byte("# pack-refs with: peeled fully-peeled sorted \n")
	for _, g := range slices.SortedFunc(slices.Values(updates), func(a, b RefUpdate) int { return strings.Compare(a.Ref, b.Ref) }) {
		packed = fmt.Appendf(packed, "%s %s\n", g.Tip, g.Ref)
	}
	if err := os.WriteFile(filepath.Join(dir, "packed-refs"), packed, 0o600); err != nil {
		return nil, nil, fmt.Errorf("push %d refs: %w", len(updates), err)
	}
	from := *l
	from.git.Env, from.git.Unset, from.git.Dir = slices.Concat(l.git.Env, source.Git.Env), source.Git.Unset, source.Git.Dir
	all := path.Dir(updates[0].Ref) + "/*"
	return from.pushOnce(ctx, updates, nil, []string{all + ":" + all})
}

// pushLeased pushes updates with a lease for each.
func (l *Conn) pushLeased(ctx context.Context, updates []RefUpdate) (outcome map[string]error, refusals []refusal, err error) {
	var leases, specs []string
	for _, g := range updates {
		expected := ""
		if !g.Seen.IsZero() {
			expected = g.Seen.String()
		}
		leases = append(leases, "--force-with-lease="+g.Ref+":"+expected)
		specs = append(specs, g.Tip.String()+":"+g.Ref)
	}
	return l.pushOnce(ctx, updates, leases, specs)
}

// pushOnce runs git push with refspecs that contain updates.
func (l *Conn) pushOnce(ctx context.Context, updates []RefUpdate, flags, specs []string) (outcome map[string]error, refusals []refusal, err error) {
	args := []string{"push", "--porcelain", "--no-verify", "--no-tags", "--no-follow-tags", "--recurse-submodules=no"}
	out, err := l.run(ctx, nil, slices.Concat(args, flags, []string{"--", l.from}, specs)...)
	reports := pushReports(out)
	outcome = map[string]error{}
	answered, said := false, ""
	if failed, ok := errors.AsType[*git.CommandError](err); ok {
		if said = git.RemoteSays(failed.Stderr); said != "" {
			said = ": " + said
		}
	}
	for _, g := range updates {
		r, ok := reports[g.Ref]
		switch {
		case !ok && err != nil: // result of this ref is unknown
			outcome[g.Ref] = err
		case !ok || r.flag != '!':
		case r.isStale() && r.reason == "non-fast-forward":
			outcome[g.Ref] = errRewritten
		case r.isStale():
			outcome[g.Ref] = fmt.Errorf("%w: %s", ErrStale, r.reason)
		default:
			refusals = append(refusals, refusal{g, r.reason, l.Refused(g.Ref, r.reason+said, err)})
			said = "" // one text for all refs, added once
		}
		answered = answered || ok
	}
	if !answered {
		return nil, nil, err
	}
	return outcome, refusals, nil
}

// Refused returns an error for a ref rejected by the remote.
func (l *Conn) Refused(ref, reason string, err error) *Error {
	failed := l.Fail("refused "+ref+": "+reason, err)
	failed.Refused = true
	switch {
	case strings.HasPrefix(reason, "shallow update not allowed"): // of receive-pack
		failed.Hint = "git fetch --unshallow " + failure.QuoteStrict(l.Remote)
	case strings.Contains(reason, "hook declined"): // by a rule of its own, often about the content
		if issue, invalid := checkpoint.IssueFromRef(strings.TrimPrefix(ref, repo.LiveRefs)); invalid == nil {
			failed.Hint = "git checkpoint push " + failure.IssueArg(string(issue)) + " --dry-run # lists what a push sends"
		}
	case refusal{reason: reason}.isRule() && !strings.Contains(reason, "unpack"): // the server takes no such refs
		failed.Hint = "git remote add checkpoints <url> && git config checkpoint.remote checkpoints"
	}
	return failed
}

// A pushReport is the push result of one ref.
type pushReport struct {
	flag   byte // '!' for a rejected ref
	remote bool // rejected by the remote, not by local git
	reason string
}

// isStale reports whether git found another remote value than expected before the push: the
// lease failed, or the pushed commit does not contain the value.
func (r pushReport) isStale() bool {
	return r.flag == '!' && !r.remote && slices.Contains([]string{"stale info", "non-fast-forward", "fetch first", "needs force"}, r.reason)
}

// pushReports parses git push --porcelain and returns reports by remote ref. Lines have
// the form "<flag> TAB <from>:<to> TAB <summary> (<reason>)". If git pushed to several
// URLs, the first rejection of a ref counts.
func pushReports(out []byte) map[string]pushReport {
	reports := map[string]pushReport{}
	for text := range strings.Lines(string(out)) {
		fields := strings.SplitN(strings.TrimSuffix(text, "\n"), "\t", 3)
		if len(fields) < 3 || len(fields[0]) != 1 {
			continue
		}
		_, ref, ok := strings.Cut(fields[1], ":")
		if !ok || reports[ref].flag == '!' {
			continue
		}
		summary, reason, _ := strings.Cut(fields[2], " (")
		reports[ref] = pushReport{fields[0][0], strings.HasPrefix(summary, "[remote "), git.Shortened(strings.TrimSuffix(reason, ")"), git.MaxSaid)}
	}
	return reports
}

// A refusal is a ref rejected by the remote. Its reason does not show whether another
// push moved the ref, because servers and git versions use different texts.
type refusal struct {
	RefUpdate
	reason string
	err    *Error
}

// isRule reports whether the server's text names a rule, so that another try is in vain.
func (r refusal) isRule() bool {
	return slices.ContainsFunc([]string{"declined", "deny", "denied", "prohibited", "permission", "unpack", "not allowed"}, func(word string) bool {
		return strings.Contains(strings.ToLower(r.reason), word)
	})
}

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
