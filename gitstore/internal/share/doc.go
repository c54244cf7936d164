// Package share exchanges chains with remotes: fetch, push, sync, purge and reading a
// remote.
package share

import "git-checkpoint/gitstore/internal/chain"

// Sharer exchanges chains with remotes.
type Sharer struct {
	*chain.Chains
}
