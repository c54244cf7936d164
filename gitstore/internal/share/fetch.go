package share

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// Fetch is Store.Fetch of package gitstore.
func (s *Sharer) Fetch(ctx context.Context, req Request) ([]chain.Synced, error) {
	y, err := s.Start("fetch", req)
	if err != nil {
		return nil, err
	}
	if req.DryRun {
		return y.compareAll(ctx)
	}
	in, ok, err := y.FetchWithoutListing(ctx, req.Issues)
	if y.Open = req.Issues; !ok && err == nil {
		y.Open, in, err = y.Conn.fetchListed(ctx, req.Issues)
	}
	if err != nil {
		return nil, err
	}
	defer y.Conn.forget(ctx, in)
	names := &chain.Names{Chains: s.chain}
	for some := range slices.Chunk(y.Open, maxTogether) {
		y.adoptFetched(ctx, some, in, names)
		y.progress()
	}
	return y.results(), nil
}

// adoptFetched moves the local refs of issues to the fetched chains that extend them.
func (y *Syncing) adoptFetched(ctx context.Context, issues []checkpoint.Issue, in fetched, names *chain.Names) {
	for _, i := range issues {
		y.Done[i] = &chain.Synced{Issue: i}
	}
	u := y.Conn.newLocalUpdate(nil)
	u.restore = true
	u.moves = func(i checkpoint.Issue) (moves []refs.Move, err error) {
		*y.Done[i], moves, err = y.planFetch(ctx, u.writer, i, in[i], names)
		return moves, err
	}
	for i, err := range u.run(ctx, issues) {
		if err != nil {
			y.Done[i].Result, y.Done[i].Err = chain.Failed, fmt.Errorf("fetch issue %s: %w", i, err)
		}
	}
}

// planFetch returns the result and the ref moves of a locked issue.
func (y *Syncing) planFetch(ctx context.Context, k *repo.ObjectWriter, i checkpoint.Issue, came remote.FetchedRef, names *chain.Names) (done chain.Synced, moves []refs.Move, err error) {
	done.Issue = i
	s := y.Sharer
	if came.Err != nil {
		return done, nil, came.Err
	}
	if came.Tip.IsZero() {
		done.Result = chain.Absent
		return done, nil, nil
	}
	ours, err := s.chainHere(ctx, i)
	if err != nil {
		return done, nil, err
	}
	theirs, err := s.theirChain(y.Conn.Remote, i, came.Tip)
	if err != nil {
		return done, nil, err
	}
	switch s.chain.Relate(ours, theirs) {
	case chain.RelationSame:
		done.Result, moves = chain.UpToDate, restoreLiveRef(ours)
	case chain.RelationAhead:
		done.Result, moves = chain.Ahead, restoreLiveRef(ours)
		if s.chain.Equal(ours, theirs) {
			done.Result = chain.UpToDate
		}
	case chain.RelationBehind:
		done.Result, done.Fetched, done.Facts = chain.Fetched, theirs.CountMissingFrom(ours), theirs.Ledger.CountMissing(ours.Ledger)
		moves, err = s.adopt(ctx, k, ours, theirs, names)
	default:
		done.Result, done.Err = chain.Diverged, y.divergence(i)
	}
	if err != nil {
		return done, nil, err
	}
	tracking, err := y.Conn.trackingMove(ctx, i, came.Tip)
	return done, append(moves, tracking...), err
}

// chainHere returns the local chain of an issue. If the ref does not exist, it returns
// the chain that this clone wrote last: a missing ref does not mean that the checkpoints
// were dropped.
func (s *Sharer) chainHere(ctx context.Context, i checkpoint.Issue) (*chain.Chain, error) {
	c, err := s.chain.ReadChain(ctx, i, repo.LiveRef(i), 0)
	if err != nil || !c.Tip.IsZero() {
		return c, err
	}
	return s.chain.ReadChain(ctx, i, repo.OwnRef(i), 0)
}

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

// adopt returns the moves that make the remote chain the local chain. Checkpoints that
// the remote's ledger marks as archived move to the local archive.
func (s *Sharer) adopt(ctx context.Context, k *repo.ObjectWriter, ours, theirs *chain.Chain, known *chain.Names) ([]refs.Move, error) {
	live, err := s.repo.ReadRef(ctx, repo.LiveRef(ours.Issue))
	if err != nil {
		return nil, err
	}
	if live.IsZero() {
		if err := known.Check(ctx, ours.Issue); err != nil {
			return nil, err
		}
	}
	doubles, note, err := s.chain.DoublesIn(theirs, ours)
	if err == nil {
		err = note()
	}
	if err != nil {
		return nil, err
	}
	for _, text := range chain.WarnDoubles(ours.Issue, doubles) {
		s.repo.Notify("%s", text)
	}
	here := *ours
	here.Tip = live
	if !theirs.Whole() {
		return s.chain.MovesTo(ctx, &here, theirs.Tip)
	}
	tip, archived, err := s.chain.Settle(ctx, k, theirs, ours)
	if err != nil {
		return nil, err
	}
	moves, err := s.chain.MovesTo(ctx, &here, tip)
	return append(archived, moves...), err
}

// restoreLiveRef returns the move that recreates a live ref from own/.
func restoreLiveRef(ours *chain.Chain) []refs.Move {
	if ours.Ref == repo.LiveRef(ours.Issue) || ours.Tip.IsZero() {
		return nil
	}
	return []refs.Move{{Name: repo.LiveRef(ours.Issue), New: ours.Tip}}
}

// divergence returns the error for chains that have diverged.
func (y *Syncing) divergence(i checkpoint.Issue) error {
	shown := chain.ShownRemote(y.Conn.Remote)
	return &chain.RemoteError{
		Op: y.Conn.Op, Remote: shown, Refused: true,
		Reason: fmt.Sprintf("issue %s has diverged: each side has checkpoints that the other lacks, and both are kept", i),
		Hint:   "git checkpoint sync " + failure.IssueArg(string(i)) + " --remote " + failure.QuoteStrict(shown),
	}
}

// compareAll returns the results that a fetch would have, based only on the tips.
func (y *Syncing) compareAll(ctx context.Context) ([]chain.Synced, error) {
	tips, issues, err := y.Conn.chains(ctx, y.req.Issues)
	done := make([]chain.Synced, len(issues))
	for k, i := range issues {
		done[k] = chain.Synced{Issue: i, Result: chain.Absent}
		if tips[i].IsZero() {
			continue
		}
		ours, err := y.Sharer.chainHere(ctx, i)
		switch {
		case err != nil:
			done[k].Result, done[k].Err = chain.Failed, fmt.Errorf("fetch issue %s: %w", i, err)
		case ours.Tip == tips[i]:
			done[k].Result = chain.UpToDate
		case ours.ContainsCommit(tips[i]):
			done[k].Result = chain.Ahead
		default:
			done[k].Result = "would be fetched"
		}
	}
	return done, err
}

// fetchListed lists the remote's refs, then fetches the chains of issues.
func (l *conn) fetchListed(ctx context.Context, issues []checkpoint.Issue) ([]checkpoint.Issue, fetched, error) {
	tips, issues, err := l.chains(ctx, issues)
	if err != nil {
		return nil, nil, err
	}
	here, err := l.s.chain.RefsHere(ctx, l.Remote, issues)
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
	const few, longest = 3, 100
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	var shown []string
	for _, name := range names[:min(few, len(names))] {
		shown = append(shown, remote.Shortened(name, longest))
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
	return l.EachTip(ctx, nil, func(string, plumbing.Hash) {})
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
