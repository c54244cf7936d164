//go:build !linux

package refs

import "time"

// unchangedFor is the time for which an incomplete lock file must be unchanged.
const unchangedFor = time.Second

// GitRuns returns false: this system cannot list processes.
func (d Dir) GitRuns(time.Time) bool { return false }
