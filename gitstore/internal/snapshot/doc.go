// Package snapshot captures the index, the worktree and the artifacts of a record into
// trees, and opens those that checkpoints hold.
package snapshot

import "git-checkpoint/gitstore/internal/chain"

// Snapshots captures and opens the files of checkpoints.
type Snapshots struct {
	*chain.Chains
	prefetchedIndex <-chan *StagedState
}

// New returns the Snapshots of a repository. prefetched is the result of PrefetchIndex, or
// nil.
func New(c *chain.Chains, prefetched <-chan *StagedState) *Snapshots {
	return &Snapshots{Chains: c, prefetchedIndex: prefetched}
}
