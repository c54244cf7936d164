// Package doctor verifies chains, finds problems around them and repairs those.
package doctor

import "git-checkpoint/gitstore/internal/facts"

// Doctor verifies and repairs a repository's checkpoints.
type Doctor struct {
	*facts.Facts
}
