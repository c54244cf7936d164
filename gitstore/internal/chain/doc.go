// Package chain reads and rewrites the chains of checkpoints: the commits of an issue's
// ref. It parses, finds, drops, pins, archives and redacts checkpoints, merges chains that
// went apart, and restores chains whose refs were deleted or set back.
//
// Methods that read a chain do not repair it. The facade calls RepairIfRewritten or
// RestoreDeletedRefs once before it reads. Retry repairs a chain under the issue lock
// before it changes the chain.
package chain

import "git-checkpoint/gitstore/internal/repo"

// Chains are the chains of checkpoints of a repository.
type Chains struct {
	*repo.Repo
}
