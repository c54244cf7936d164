// Package doctor verifies chains, finds problems around them and repairs those.
//
// Judge finds problems around the chains of a repository: locks and temporary
// files of ended processes, broken refs, expired safety snapshots, clocks in the future,
// git settings that conflict with checkpoints.
//
// Checks are pure functions over Facts. Folders finds leftover files and removes them. A
// Mend is always safe: it deletes no readable data and disturbs no running process.
package doctor

import "git-checkpoint/gitstore/internal/facts"

// Doctor verifies and repairs a repository's checkpoints.
type Doctor struct {
	*facts.Facts
}
