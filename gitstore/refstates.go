package gitstore

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/go-git/go-git/v5/plumbing"
)

// A refState holds the values of an issue's local refs.
type refState struct{ live, own, tracked plumbing.Hash }

// refStates maps the names of issues in refs to their states.
type refStates map[string]refState

// refStatesOf groups refs by issue. It runs while the remote prepares its answer, since
// there may be thousands of refs.
func (y *syncing) refStatesOf(here map[string]plumbing.Hash) refStates {
	all := make(refStates, len(here)/3+1)
	tracking := y.s.trackingRefs(y.conn.Remote)
	for ref, hash := range here {
		if name, ok := strings.CutPrefix(ref, liveRefs); ok {
			s := all[name]
			s.live = hash
			all[name] = s
		} else if name, ok := strings.CutPrefix(ref, ownRefs); ok {
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

// every returns the issues of the remote, the local issues, and the issues that this
// clone once wrote.
func (all refStates) every(there listing) []checkpoint.Issue {
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
func (y *syncing) outOfSync(ctx context.Context, issues []checkpoint.Issue, tips map[checkpoint.Issue]plumbing.Hash, all refStates) []checkpoint.Issue {
	var open []checkpoint.Issue
	same := make([]Synced, 0, len(issues))
	if len(y.done) == 0 {
		y.done = make(map[checkpoint.Issue]*Synced, len(issues))
	}
	for _, i := range issues {
		if !all[i.RefName()].inSync(tips[i]) || y.damaged(ctx, i) {
			open = append(open, i)
			continue
		}
		same = append(same, Synced{Issue: i, Result: UpToDate, Retries: y.tries})
		y.done[i] = &same[len(same)-1]
	}
	return open
}

// damaged reports whether an issue named by the user has checkpoints that are both in its
// chain and in its archive.
func (y *syncing) damaged(ctx context.Context, i checkpoint.Issue) bool {
	if !slices.Contains(y.req.Issues, i) || len(y.req.Issues) > listAbove {
		return false
	}
	both, err := y.s.inBoth(ctx, i)
	return err == nil && len(both) > 0
}
