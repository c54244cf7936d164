// Package facts gathers what package freshness judges: HEAD, branches, worktrees and their
// relation to a checkpoint.
package facts

import "git-checkpoint/gitstore/internal/capture"

// Facts gathers facts about a repository and its checkpoints.
type Facts struct {
	*capture.Capturer
}
