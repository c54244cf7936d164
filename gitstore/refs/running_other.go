//go:build !linux

package refs

import "time"

// unchangedFor is how long a lock that is not complete has to stay as it is.
const unchangedFor = time.Second

// gitRuns is not known on this system.
func (d Dir) gitRuns(time.Time) bool { return false }
