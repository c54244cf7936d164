package gitstore

import (
	"context"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/share"
	"git-checkpoint/gitstore/trace"
)

// A sync retries for at least syncFor and at least syncTries attempts, within its budget.
// A time limit alone would allow few attempts if many clones share a slow connection. The
// clone that won the last race often wins the next one too.
const (
	syncFor   = 2 * time.Minute
	syncTries = 200
)

// Fetch fetches the chains of issues from a remote. If the remote chain extends the local
// chain, the local ref moves to the remote tip. If both have diverged, the local chain
// stays, and the remote chain is available below refs/git-checkpoint/remote. The error
// reports that the remote did not answer; errors of single issues are in their Synced.
func (s *Store) Fetch(ctx context.Context, req FetchRequest) ([]Synced, error) {
	return s.exchange(ctx, "fetch", req)
}

// Push pushes chains of issues, or of all local issues, to a remote if they contain the
// remote's chains. A ref moves only from the value that was last seen; a diverged ref
// stays. The error reports that the remote did not answer; errors of single issues are in
// their Synced.
func (s *Store) Push(ctx context.Context, req PushRequest) ([]Synced, error) {
	if len(req.Issues) == 0 && req.Remote != "" {
		issues, strange, err := s.Issues(ctx, false)
		if err != nil || len(issues) == 0 {
			return nil, err
		}
		s.sharer.WarnInvalidRefs("", strange)
		req.Issues = issues
	}
	return s.exchange(ctx, "push", req)
}

// Sync merges the local and the remote chains of issues, of all issues if req names none. The
// result contains all checkpoints saved on either side, except checkpoints that either side
// dropped or pruned. A pinned checkpoint is dropped too, but not pruned. Chains are merged by their
// contents, and package join has the rules; a missing ref has no meaning. If the remote rejects
// the push, both sides stay unchanged. If the remote is a bundle file, only the local refs move.
//
// The error reports that the remote did not answer; errors of single issues are in their
// Synced.
func (s *Store) Sync(ctx context.Context, req SyncRequest) ([]Synced, error) {
	return s.exchange(ctx, "sync", req)
}

// exchange runs a fetch, a push or a sync. It repeats exchangeOnce for the issues whose refs another
// process or clone has moved meanwhile.
func (s *Store) exchange(ctx context.Context, op string, req SyncRequest) ([]Synced, error) {
	defer trace.Begin(trace.Step, op).End()
	y, err := s.sharer.Start(ctx, op, req)
	if err != nil {
		return nil, err
	}
	within, cancel := ctx, context.CancelFunc(func() {})
	if req.Budget > 0 {
		within, cancel = context.WithTimeout(ctx, req.Budget)
	}
	defer cancel()

	issues := req.Issues
	for start := time.Now(); err == nil; {
		if issues, err = exchangeOnce(within, y, issues, req.DryRun); err != nil || len(issues) == 0 {
			break
		}
		if time.Since(start) > syncFor && y.Tries >= syncTries {
			y.GiveUp(issues)
			break
		}
		err = y.Pause(within)
	}
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		err = y.OutOfTime()
	}
	return y.Results(), y.NamePushed(err)
}

// exchangeOnce tries once, and returns the issues whose remote or local refs moved
// concurrently. The error affects every issue.
func exchangeOnce(ctx context.Context, y *share.Syncing, issues []checkpoint.Issue, dryRun bool) (again []checkpoint.Issue, err error) {
	// The refs of the remote are listed. Missing chains are fetched to refs/git-checkpoint/incoming/.
	theirs, err := y.FetchMissing(ctx, issues)
	defer theirs.Forget(ctx)
	if err != nil {
		return nil, err
	}

	for some := range slices.Chunk(theirs.Issues, share.MaxTogether) {
		// For each issue, a pure function joins what both sides know: saved, dropped, pinned and
		// archived checkpoints, ordered by clock and id. If one side has the result, it is used as
		// it is. Otherwise the commits above the common part are rewritten, and the records of
		// parallel work are merged. A fetch and a push only move one side to the other.
		round, err := y.Plan(ctx, theirs, some)
		if err != nil {
			return nil, err
		}
		if dryRun {
			round.MarkDryRun(ctx)
		} else {
			round.WriteObjects(ctx)
			// Request.May allows or refuses the commits that the push would publish.
			round.CheckPublication(ctx)
			// The remote refs move first, with the listed values as leases, an archive before
			// its chain. If a lease is stale, the issue is tried again.
			if err := round.MoveRemoteRefs(ctx); err != nil {
				return nil, err
			}
			// The local refs move, many issues in one transaction. If a local ref has moved
			// since it was read, only its issue is tried again.
			round.MoveLocalRefs(ctx)
		}
		again = append(again, round.Finish()...)
	}
	return again, nil
}
