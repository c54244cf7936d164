// Package save appends checkpoints to chains and applies retention to them.
package save

import "git-checkpoint/gitstore/internal/facts"

// Saver saves and prunes checkpoints.
type Saver struct {
	*facts.Facts
}
