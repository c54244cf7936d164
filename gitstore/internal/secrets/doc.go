// Package secrets searches checkpoints for secrets, before a push and on demand, with the
// rules of package scan and with an external command.
package secrets

import "git-checkpoint/gitstore/internal/chain"

// Scanner searches checkpoints for secrets.
type Scanner struct {
	*chain.Chains
}
