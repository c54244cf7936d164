package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/go-git/go-git/v5/plumbing"
)

// Joined says that the chain here and the remote's were joined into a new one,
// which both have now.
const Joined = "joined"

// A SyncRequest says what to synchronize.
type SyncRequest struct {
	Remote  string
	Issues  []checkpoint.Issue // none for all, here and there
	Timeout time.Duration      // of one connection, 0 for none
	Quiet   bool               // ask nobody for a password
	DryRun  bool               // say what would be done

	// Archived synchronizes archives too. Without it, an archive only goes to
	// the remote with a chain that says so, and none comes from it.
	Archived bool

	// May is asked before what an issue's push shows is shown, nil for yes. Its
	// error is the issue's; nothing of the issue moves then.
	May func(checkpoint.Issue, Outgoing) error
}

// syncFor bounds how long a sync follows remotes and refs that move.
const syncFor = 2 * time.Minute

// Sync brings issues here and at a remote to one chain: what was saved on
// either side, without what was dropped or pruned on either. Chains are joined
// by what they say (package join); that a ref is gone says nothing. The remote
// moves first, from the value that was seen there, and then the refs here in
// one transaction; a refusal leaves both sides as they were.
//
// An error says that the remote did not answer; what went wrong with one issue
// is in its Synced.
func (s *Store) Sync(ctx context.Context, req SyncRequest) ([]Synced, error) {
	l, err := s.line("sync", req.Remote, req.Timeout, req.Quiet)
	if err != nil {
		return nil, err
	}
	y := &syncing{s: s, line: l, dryRun: req.DryRun, archived: req.Archived, may: req.May, done: map[checkpoint.Issue]*Synced{}}
	pending := req.Issues
	for start := time.Now(); ; y.tries++ {
		pending, err = y.pass(ctx, pending)
		if err != nil || len(pending) == 0 {
			break
		}
		if time.Since(start) > syncFor {
			y.giveUp(pending)
			break
		}
		if err = pause(ctx, y.tries); err != nil {
			break
		}
	}
	return y.results(), err
}

// pause waits before the next try, longer with every one, and not as long as
// the others who were refused.
func pause(ctx context.Context, tries int) error {
	longest := min(2*time.Second, 20*time.Millisecond<<min(tries, 10))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(longest/4 + rand.N(longest)):
		return nil
	}
}

// A syncing is one Sync over all its tries.
type syncing struct {
	s        *Store
	line     *line
	dryRun   bool
	archived bool
	may      func(checkpoint.Issue, Outgoing) error
	tries    int
	done     map[checkpoint.Issue]*Synced
}

// results are in the order of issues.
func (y *syncing) results() []Synced {
	list := make([]Synced, 0, len(y.done))
	for _, i := range slices.Sorted(maps.Keys(y.done)) {
		list = append(list, *y.done[i])
	}
	return list
}

func (y *syncing) fail(i checkpoint.Issue, err error) {
	if !errors.As(err, new(*RemoteError)) && !errors.As(err, new(*heldError)) {
		err = fmt.Errorf("sync issue %s: %w", i, err)
	}
	y.done[i] = &Synced{Issue: i, Result: Failed, Retries: y.tries, Err: err}
}

func (y *syncing) giveUp(issues []checkpoint.Issue) {
	for _, i := range issues {
		y.fail(i, &RemoteError{Op: "sync", Remote: ShownRemote(y.line.remote), Reason: ErrMoved.Error(), Err: ErrMoved, Refused: true})
	}
}

// pass tries once for issues, and returns those for which the remote or a ref
// here moved meanwhile. Its error is one that every issue meets.
func (y *syncing) pass(ctx context.Context, issues []checkpoint.Issue) (again []checkpoint.Issue, err error) {
	tips, there, err := y.line.chains(ctx, issues)
	if err != nil {
		return nil, err
	}
	here, err := y.s.refs(ctx, liveRefs, bookRefs)
	if err != nil {
		return nil, err
	}
	if len(issues) == 0 {
		issues = everyIssue(there, here)
	}
	if !y.archived {
		issues = y.unsettled(issues, tips, here)
	}
	in, err := y.line.incoming(ctx, issues, tips)
	if err != nil {
		return nil, err
	}
	defer y.s.forgetIncoming(ctx, in)
	var plans []*syncPlan
	for _, i := range issues {
		p, err := y.plan(ctx, i, in[i])
		if err != nil {
			y.fail(i, err)
			continue
		}
		plans = append(plans, p)
	}
	archives, err := y.theirArchives(ctx, plans)
	defer y.s.forgetIncoming(ctx, archives)
	if err != nil {
		return nil, err
	}
	return y.act(ctx, y.withArchives(plans, archives))
}

// everyIssue are the issues that a remote has, with those that are here, or
// that this clone once wrote.
func everyIssue(there []checkpoint.Issue, here map[string]plumbing.Hash) []checkpoint.Issue {
	all := slices.Clone(there)
	for name := range here {
		for _, prefix := range []string{liveRefs, ownRefs} {
			if rest, ok := strings.CutPrefix(name, prefix); ok {
				if i, err := checkpoint.IssueFromRef(rest); err == nil {
					all = append(all, i)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// unsettled leaves out the issues for which every ref is where the remote's is.
func (y *syncing) unsettled(issues []checkpoint.Issue, tips map[checkpoint.Issue]plumbing.Hash, here map[string]plumbing.Hash) []checkpoint.Issue {
	var open []checkpoint.Issue
	for _, i := range issues {
		tip := tips[i]
		if tip.IsZero() || here[LiveRef(i)] != tip || here[ownRef(i)] != tip || here[y.s.trackingRef(y.line.remote, i)] != tip {
			open = append(open, i)
			continue
		}
		y.done[i] = &Synced{Issue: i, Result: UpToDate, Retries: y.tries}
	}
	return open
}
