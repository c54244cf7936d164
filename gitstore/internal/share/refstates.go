package share

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// A refState holds the values of an issue's local refs.
type refState struct{ live, own, tracked plumbing.Hash }

// refStates maps the names of issues in refs to their states.
type refStates map[string]refState

// RefStatesOf groups refs by issue. It runs while the remote prepares its answer, since
// there may be thousands of refs.
func (y *Syncing) RefStatesOf(here map[string]plumbing.Hash) refStates {
	all := make(refStates, len(here)/3+1)
	tracking := y.Sharer.TrackingRefs(y.Conn.Remote)
	for ref, hash := range here {
		if name, ok := strings.CutPrefix(ref, repo.LiveRefs); ok {
			s := all[name]
			s.live = hash
			all[name] = s
		} else if name, ok := strings.CutPrefix(ref, repo.OwnRefs); ok {
			s := all[name]
			s.own = hash
			all[name] = s
		} else if name, ok := strings.CutPrefix(ref, tracking); ok {
			s := all[name]
			s.tracked = hash
			all[name] = s
		}
	}
	return all
}

// allIssues returns the issues of the remote, the local issues, and the issues that this
// clone once wrote.
func (all refStates) allIssues(there listing) []checkpoint.Issue {
	issues := slices.Clone(there.issues)
	for name, at := range all {
		if at.live.IsZero() && at.own.IsZero() {
			continue
		}
		if _, ok := there.tips[checkpoint.Issue(name)]; ok && !strings.Contains(name, "%") {
			continue // an unencoded name needs no decoding
		}
		if i, err := checkpoint.IssueFromRef(name); err == nil && there.tips[i].IsZero() {
			issues = append(issues, i)
		}
	}
	slices.Sort(issues)
	return slices.Compact(issues)
}

// inSync reports whether every local ref equals the remote ref.
func (at refState) inSync(tip plumbing.Hash) bool {
	return !tip.IsZero() && at.live == tip && at.own == tip && at.tracked == tip
}

// hasLocalOnly reports whether this clone wrote the local chain, and the chain differs
// from the remote-tracking ref.
func (at refState) hasLocalOnly() bool {
	return !at.live.IsZero() && at.live == at.own && at.live != at.tracked
}

// outOfSync returns the issues that need work in a sync. For issues named by the user it
// also checks whether a checkpoint is both live and archived.
func (y *Syncing) outOfSync(ctx context.Context, issues []checkpoint.Issue, tips map[checkpoint.Issue]plumbing.Hash, all refStates) []checkpoint.Issue {
	var open []checkpoint.Issue
	same := make([]chain.Synced, 0, len(issues))
	if len(y.Done) == 0 {
		y.Done = make(map[checkpoint.Issue]*chain.Synced, len(issues))
	}
	for _, i := range issues {
		if !all[i.RefName()].inSync(tips[i]) || y.damaged(ctx, i) {
			open = append(open, i)
			continue
		}
		same = append(same, chain.Synced{Issue: i, Result: chain.UpToDate, Retries: y.tries})
		y.Done[i] = &same[len(same)-1]
	}
	return open
}

// damaged reports whether an issue named by the user has checkpoints that are both in its
// chain and in its archive.
func (y *Syncing) damaged(ctx context.Context, i checkpoint.Issue) bool {
	if !slices.Contains(y.req.Issues, i) || len(y.req.Issues) > chain.ListAbove {
		return false
	}
	both, err := y.Sharer.InBoth(ctx, i)
	return err == nil && len(both) > 0
}
