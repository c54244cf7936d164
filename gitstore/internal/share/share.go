// Package share exchanges chains with remotes: fetch, push, sync, purge and reading a
// remote.
//
// Fetch, push and sync are one engine with the state in a Syncing:
//
//   - plan: the chains of each issue are compared, which sets the result and the new tips.
//     Nothing is written. A fetch pushes nothing and does not merge. A push moves only
//     remote-tracking refs here.
//   - round: the steps of many plans over one connection. A fetch brings remote chains below
//     refs/git-checkpoint/incoming. A push checks the exposed commits of all issues together,
//     then pushes from the compared tips.
//   - local update: the local refs of many issues move in one transaction. If it
//     fails, those of each half move in a transaction of their own.
//
// The steps are called by gitstore/sync.go, where they can be read in their order.
//
// The number of git processes does not depend on the number of issues, unless issues fail or
// their chains were rewritten.
//
// If a ref moves concurrently, the issue is planned again.
package share

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// Sharer exchanges chains with remotes.
type Sharer struct {
	repo  *repo.Repo
	chain *chain.Chains
	log   *operation.Log
}

// New returns the Sharer of a repository.
func New(r *repo.Repo, c *chain.Chains, l *operation.Log) *Sharer { return &Sharer{r, c, l} }

// A Request holds the parameters of a fetch, a push, a sync, or of OpenRemote.
type Request struct {
	Remote  string
	Issues  []checkpoint.Issue // empty for all issues: of the remote (fetch), here (push) or both (sync)
	Timeout time.Duration      // per connection; 0 for no timeout
	Quiet   bool               // do not prompt for a password

	DryRun   bool                  // report the results without a change; ignored by OpenRemote
	Progress func(done, total int) // receives the number of finished issues, may be nil

	// Join makes a fetch join chains that have diverged here, as a sync does.
	Join bool
	// Archived includes archives in a sync or in OpenRemote. Otherwise a sync pushes an
	// archive only with a chain that marks checkpoints as archived, and fetches no archive.
	Archived bool
	// Whole makes OpenRemote borrow no objects of this repository, which may be damaged.
	Whole bool

	// Exposed names commits that a push of the user sends at the same time, and commits that
	// the remote has according to this push.
	Exposed remote.Exposed
	// May is called before a push or a sync exposes commits of issues, with the commits of
	// each issue; nil allows all pushes. It returns an error, or nil, for each issue. An issue
	// with an error fails with it, and no ref of it moves.
	May func(issues []checkpoint.Issue, outs []chain.Outgoing) []error

	// Budget is the timeout of a whole sync, 0 for none; unfinished issues fail.
	Budget time.Duration
}

// Connect connects to a remote. It fails with ErrNoRemote for an empty name, and with *RefusedError for a
// name that git would parse as an option or as several lines.
func (s *Sharer) Connect(ctx context.Context, op, name string, timeout time.Duration, quiet bool) (*remote.Conn, error) {
	switch {
	case name == "":
		return nil, chain.ErrNoRemote
	case strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\x00\n\r"):
		return nil, &repo.RefusedError{Reason: fmt.Sprintf("remote %q: no such remote", name), Hint: "git remote -v"}
	}
	return remote.Open(ctx, s.repo, op, name, timeout, quiet), nil
}

// A Syncing is the state of one fetch, push or sync over all attempts. Each of them plans
// every issue from the local and the remote chain, transfers chains, and moves local refs.
type Syncing struct {
	Sharer *Sharer
	Conn   *remote.Conn
	req    Request
	Tries  int                // attempts before this one
	Open   []checkpoint.Issue // issues of the operation, nil if not known yet
	Done   map[checkpoint.Issue]*chain.Synced

	stale      map[remote.RefUpdate]int          // number of stale rejections of a listed tip
	pushedOnly map[checkpoint.Issue]chain.Synced // results of pushes with pending local moves
}

// joins reports whether chains that have diverged are joined here.
func (y *Syncing) joins() bool { return y.Conn.Op == "sync" || y.req.Join }

// Start begins a fetch, a push or a sync, without a connection yet.
func (s *Sharer) Start(ctx context.Context, op string, req Request) (*Syncing, error) {
	l, err := s.Connect(ctx, op, req.Remote, req.Timeout, req.Quiet)
	if err != nil {
		return nil, err
	}
	if l.Bundle && op == "push" {
		return nil, &repo.RefusedError{Reason: fmt.Sprintf("push: %s is a bundle file, which cannot be changed", chain.ShownRemote(req.Remote)), Hint: newBundle(req.Issues)}
	}
	return &Syncing{
		Sharer: s, Conn: l, req: req, Open: req.Issues, Done: map[checkpoint.Issue]*chain.Synced{},
		stale: map[remote.RefUpdate]int{}, pushedOnly: map[checkpoint.Issue]chain.Synced{},
	}, nil
}

// newBundle returns the command that writes checkpoints to a new bundle file.
func newBundle(issues []checkpoint.Issue) string {
	if len(issues) == 1 {
		return "git bundle create new.bundle " + failure.QuoteStrict(repo.LiveRef(issues[0]))
	}
	return "git bundle create new.bundle '--glob=" + repo.LiveRefs + "*'"
}

// fail sets an issue's result to an error. If an earlier attempt moved remote refs, it
// wraps the error with repo.Pushed.
func (y *Syncing) fail(i checkpoint.Issue, err error) {
	_, pushed := y.pushedOnly[i]
	switch {
	case pushed && !repo.IsDone(err):
		err = repo.Pushed(i, chain.ShownRemote(y.Conn.Remote), err)
	case !errors.As(err, new(*remote.Error)) && !errors.As(err, new(*blockedError)) && !errors.As(err, new(*repo.NoneError)):
		err = fmt.Errorf("%s issue %s: %w", y.Conn.Op, i, err)
	}
	y.Done[i] = &chain.Synced{Issue: i, Result: chain.Failed, Pushed: y.pushedOnly[i].Pushed, Retries: y.Tries, Err: err}
}

// progress reports the number of finished issues.
func (y *Syncing) progress() {
	if y.req.Progress != nil {
		y.req.Progress(len(y.Done), len(y.Open))
	}
}

// issuesOf returns the issues of the refs that begin with one of the prefixes, and the refs whose
// names are not valid issues.
func issuesOf(refs map[string]plumbing.Hash, prefixes ...string) (issues []checkpoint.Issue, strange []string) {
	for ref, hash := range refs {
		for _, prefix := range prefixes {
			name, ok := strings.CutPrefix(ref, prefix)
			if !ok || hash.IsZero() {
				continue
			}
			if i, err := checkpoint.IssueFromRef(name); err == nil {
				issues = append(issues, i)
			} else {
				strange = append(strange, ref)
			}
		}
	}
	return issues, strange
}

// outOfSync returns the issues that need work, and sets the result of the others.
func (y *Syncing) outOfSync(issues []checkpoint.Issue, there, here map[string]plumbing.Hash) (open []checkpoint.Issue) {
	tracking := y.Sharer.chain.TrackingRefs(y.Conn.Remote)
	for _, i := range issues {
		tip := there[repo.LiveRef(i)]
		isSame := here[repo.LiveRef(i)] == tip && here[repo.OwnRef(i)] == tip && here[tracking+i.RefName()] == tip
		if tip.IsZero() || !isSame {
			open = append(open, i)
			continue
		}
		y.Done[i] = &chain.Synced{Issue: i, Result: chain.UpToDate, Retries: y.Tries}
	}
	return open
}
