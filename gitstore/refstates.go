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

// refStatesOf sorts refs by issue, while a remote is thinking: there may be
// thousands.
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

// every are the issues that a remote has, with those that are here, or that
// this clone once wrote.
func (all refStates) every(there listing) []checkpoint.Issue {
	issues := slices.Clone(there.issues)
	for name, at := range all {
		if at.live.IsZero() && at.own.IsZero() {
			continue
		}
		if _, ok := there.tips[checkpoint.Issue(name)]; ok && !strings.Contains(name, "%") {
			continue // what is not encoded needs no decoding
		}
		if i, err := checkpoint.IssueFromRef(name); err == nil && there.tips[i].IsZero() {
			issues = append(issues, i)
		}
	}
	slices.Sort(issues)
	return slices.Compact(issues)
}

// inSync reports whether every local ref has the value of the remote's.
func (at refState) inSync(tip plumbing.Hash) bool {
	return !tip.IsZero() && at.live == tip && at.own == tip && at.tracked == tip
}

// hasLocalOnly reports whether the chain here is this clone's, and not the one that
// the remote was seen with.
func (at refState) hasLocalOnly() bool {
	return !at.live.IsZero() && at.live == at.own && at.live != at.tracked
}

// outOfSync returns the issues that a sync has to do something for. An issue that
// was named is looked at more closely: its archive may have what its chain has.
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

// damaged reports whether the archive here of an issue that was named has
// checkpoints of its chain.
func (y *syncing) damaged(ctx context.Context, i checkpoint.Issue) bool {
	if !slices.Contains(y.req.Issues, i) || len(y.req.Issues) > listAbove {
		return false
	}
	both, err := y.s.inBoth(ctx, i)
	return err == nil && len(both) > 0
}
