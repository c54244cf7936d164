package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
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
	Quiet   bool               // do not prompt for a password
	DryRun  bool               // report the results without a change

	// Archived synchronizes archives too. Without it, an archive only goes to
	// the remote with a chain that says so, and none comes from it.
	Archived bool

	// May is asked before what an issue's push shows is shown, nil for yes. Its
	// error is the issue's; nothing of the issue moves then.
	May func(checkpoint.Issue, Outgoing) error
	// Harmless reports that May would say nothing of what the pushes of several
	// issues show together, and need not be asked; nil for never.
	Harmless func(Outgoing) bool
	// Meanwhile is run once before refs here are read, while the remote is asked
	// already where that can be; nil for nothing to do.
	Meanwhile func()

	Budget   time.Duration         // of the whole, 0 for none: what is not done then has failed
	Progress func(done, total int) // is told how many issues are done, nil for nobody
}

// A sync follows remotes and refs that move for so long, and at least so often, as
// its budget allows: in a crowd over a slow line two minutes are few tries, and who
// has just been first is likely to be first again.
const (
	syncFor   = 2 * time.Minute
	syncTries = 200
)

// Sync brings issues here and at a remote to one chain: what was saved on
// either side, without what was dropped or pruned on either. Chains are joined
// by what they say (package join); that a ref is gone says nothing. The remote
// moves first, from the value that was seen there, and then the refs here in
// one transaction; a refusal leaves both sides as they were.
//
// An error says that the remote did not answer; what went wrong with one issue
// is in its Synced.
func (s *Store) Sync(ctx context.Context, req SyncRequest) ([]Synced, error) {
	l, err := s.connect("sync", req.Remote, req.Timeout, req.Quiet)
	if err != nil {
		return nil, err
	}
	s.clearBefore(ctx, req.DryRun)
	y := &syncing{s: s, conn: l, req: req, stale: map[checkpoint.Issue]staleTip{}, late: map[checkpoint.Issue]bool{}, done: map[checkpoint.Issue]*Synced{}, given: map[checkpoint.Issue]Synced{}}
	within, cancel := ctx, context.CancelFunc(func() {})
	if req.Budget > 0 {
		within, cancel = context.WithTimeout(ctx, req.Budget)
	}
	defer cancel()
	err = y.begin(within)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		err = y.outOfTime()
	}
	return y.results(), y.namePushed(err)
}

// namePushed adds to an error that ended the sync the issues whose refs an earlier
// try has moved at the remote.
func (y *syncing) namePushed(err error) error {
	if err == nil {
		return nil
	}
	for _, i := range slices.Sorted(maps.Keys(y.given)) {
		if y.done[i] == nil {
			err = &PushedError{Issue: i, Remote: ShownRemote(y.conn.Remote), Err: err}
		}
	}
	return err
}

// begin pushes what was named and went on here before it looks at the remote,
// which that may save.
func (y *syncing) begin(ctx context.Context) error {
	named := y.req.Issues
	if len(named) == 0 {
		return y.run(ctx, nil)
	}
	y.meanwhile()
	here, err := y.refs(ctx, named)
	if err != nil {
		return err
	}
	y.open = named
	if err := y.pushWithoutListing(ctx, y.refStatesOf(here)); err != nil {
		return err
	}
	if named = y.undone(named); len(named) == 0 {
		y.progress()
		return nil
	}
	return y.run(ctx, named)
}

// fetchWithoutListing is pass for one issue of which nothing is here, or of which the remote
// has just said that it moved: what it has is fetched without a look. ok is false
// where a look is needed.
func (y *syncing) fetchWithoutListing(ctx context.Context, issues []checkpoint.Issue) (again []checkpoint.Issue, ok bool, err error) {
	if len(issues) != 1 {
		return nil, false, nil
	}
	i := issues[0]
	here, err := y.refs(ctx, issues)
	known := y.s.knows(y.conn.Remote, i, here)
	if err != nil || !y.late[i] && known {
		return nil, false, err
	}
	delete(y.late, i)
	y.here = nil
	in, ok, err := y.conn.fetchWithoutListing(ctx, i, known)
	if err != nil || !ok {
		return nil, false, err
	}
	again, err = y.follow(ctx, issues, in)
	return again, true, err
}

// refs are the refs here of issues. They are read once for what is found out
// before a connection is made, and again after that.
func (y *syncing) refs(ctx context.Context, issues []checkpoint.Issue) (here map[string]plumbing.Hash, err error) {
	if y.here == nil {
		y.here, err = y.s.refsHere(ctx, y.conn.Remote, issues)
	}
	return y.here, err
}

// undone are the issues of which it is not known yet what became of them.
func (y *syncing) undone(issues []checkpoint.Issue) (open []checkpoint.Issue) {
	for _, i := range issues {
		if y.done[i] == nil {
			open = append(open, i)
		}
	}
	return open
}

func (y *syncing) meanwhile() {
	if y.req.Meanwhile != nil {
		y.req.Meanwhile()
	}
}

// run tries until nothing moves meanwhile, with all issues for none.
func (y *syncing) run(ctx context.Context, pending []checkpoint.Issue) error {
	for start := time.Now(); ; y.tries++ {
		var err error
		if pending, err = y.pass(ctx, pending); err != nil || len(pending) == 0 {
			return err
		}
		if time.Since(start) > syncFor && y.tries >= syncTries {
			y.giveUp(pending)
			return nil
		}
		if err := pause(ctx, y.tries); err != nil {
			return err
		}
	}
}

// outOfTime fails what is not done, or the whole where it is not known what
// there is.
func (y *syncing) outOfTime() error {
	late := y.conn.Fail(fmt.Sprintf("not done within %s", y.req.Budget), context.DeadlineExceeded)
	for _, i := range y.open {
		if y.done[i] == nil {
			y.fail(i, late)
		}
	}
	if y.open == nil {
		return late
	}
	return nil
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
	s     *Store
	conn  *conn
	req   SyncRequest
	tries int
	open  []checkpoint.Issue       // what there is to do
	here  map[string]plumbing.Hash // refs that were read, until a connection is made
	stale map[checkpoint.Issue]staleTip
	done  map[checkpoint.Issue]*Synced
	late  map[checkpoint.Issue]bool   // somebody was there before the last push
	given map[checkpoint.Issue]Synced // what the remote has got while a ref here moved
}

// A staleTip is a tip that a remote was seen at, and how often in a row it said
// that it is not there.
type staleTip struct {
	tip   plumbing.Hash
	times int
}

// results are in the order of issues.
func (y *syncing) results() []Synced {
	issues := slices.Clone(y.open)
	if issues == nil { // nobody knows what else there is
		issues = slices.Collect(maps.Keys(y.done))
	}
	slices.Sort(issues) // as they are, as a rule
	issues = slices.Compact(issues)
	list := make([]Synced, 0, len(issues))
	for _, i := range issues {
		if d := y.done[i]; d != nil {
			list = append(list, *d)
		}
	}
	return list
}

// fail ends an issue with an error. If a try has moved the remote's refs, the error
// says so.
func (y *syncing) fail(i checkpoint.Issue, err error) {
	_, pushed := y.given[i]
	switch {
	case pushed && !isDone(err):
		err = &PushedError{Issue: i, Remote: ShownRemote(y.conn.Remote), Err: err}
	case !errors.As(err, new(*RemoteError)) && !errors.As(err, new(*blockedError)):
		err = fmt.Errorf("sync issue %s: %w", i, err)
	}
	y.done[i] = &Synced{Issue: i, Result: Failed, Pushed: y.given[i].Pushed, Retries: y.tries, Err: err}
}

func (y *syncing) giveUp(issues []checkpoint.Issue) {
	for _, i := range issues {
		y.fail(i, &RemoteError{Op: "sync", Remote: ShownRemote(y.conn.Remote), Reason: ErrMoved.Error(), Err: ErrMoved, Refused: true})
	}
}

// pass tries once for issues, and returns those for which the remote or a ref
// here moved meanwhile. Its error is one that every issue meets.
func (y *syncing) pass(ctx context.Context, issues []checkpoint.Issue) (again []checkpoint.Issue, err error) {
	if again, ok, err := y.fetchWithoutListing(ctx, issues); ok || err != nil {
		return again, err
	}
	there, here, all, err := y.look(ctx, issues)
	if err != nil {
		return nil, err
	}
	if len(issues) == 0 {
		issues = all.every(there)
	}
	if y.open == nil {
		y.open = issues
	}
	issues = y.undone(issues)
	if !y.req.Archived {
		issues = y.outOfSync(ctx, issues, there.tips, all)
	}
	y.progress()
	if len(issues) == 0 {
		return nil, nil
	}
	in, err := y.conn.incoming(ctx, issues, there.tips, here)
	if err != nil {
		return nil, err
	}
	return y.follow(ctx, issues, in)
}

// follow goes on from what the remote has.
func (y *syncing) follow(ctx context.Context, issues []checkpoint.Issue, in fetched) (again []checkpoint.Issue, err error) {
	defer y.conn.forget(ctx, in)
	plans := y.planAll(ctx, issues, in, &names{s: y.s})
	archives, err := y.theirArchives(ctx, plans)
	defer y.conn.forget(ctx, archives)
	if err != nil {
		return nil, err
	}
	return y.execute(ctx, y.withArchives(plans, archives))
}

// progress tells how much is done.
func (y *syncing) progress() {
	if y.req.Progress != nil {
		y.req.Progress(len(y.done), len(y.open))
	}
}

// look asks the remote for the tips of issues, all for none, and finds out
// meanwhile where the refs here are, and pushes what went on where it may.
func (y *syncing) look(ctx context.Context, issues []checkpoint.Issue) (there listing, here map[string]plumbing.Hash, all refStates, err error) {
	var failed error
	var asking sync.WaitGroup
	asking.Go(func() { there, failed = y.conn.ask(ctx, issues) })
	if len(issues) == 0 {
		y.meanwhile()
	}
	here, err = y.refs(ctx, issues)
	y.here = nil
	all = y.refStatesOf(here)
	if err == nil && len(issues) == 0 && y.canConnectTwice() {
		err = y.pushWithoutListing(ctx, all)
	}
	if asking.Wait(); failed != nil {
		err = failed
	}
	if err == nil && len(issues) == 0 {
		y.s.warnInvalidRefs(ShownRemote(y.conn.Remote)+": ", there.strange)
	}
	return there, here, all, err
}

// listAbove is the number of issues above which all refs are read.
const listAbove = 20
