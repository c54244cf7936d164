// Package capture stores the content of an index and its worktree as trees, and opens the
// snapshots that checkpoints contain.
//
//	ReadArea           the index: tree, changes, conflicts
//	Area.Begin         starts the snapshot: staged/ and conflicts/, and objects to keep
//	Source.Take        adds requested files: worktree/, untracked/ and artifacts/
//	Capturer.Snapshot  all of them, for a save
//
// All objects are written to the sink, except files with filters, which git stores. A
// Checker checks the files that a record refers to: outputs of agents and phases, and
// plans. Git often ignores these files, so checkpoints store them as artifacts. Paths are
// relative to the worktree root. Files outside the worktree are never read and count as
// missing.
package capture

import "git-checkpoint/gitstore/internal/chain"

// Capturer captures and opens the files of checkpoints.
type Capturer struct {
	*chain.Chains
	prefetchedIndex <-chan *StagedState
}

// New returns the Capturer of a repository. prefetched is the result of PrefetchIndex, or
// nil.
func New(c *chain.Chains, prefetched <-chan *StagedState) *Capturer {
	return &Capturer{Chains: c, prefetchedIndex: prefetched}
}
