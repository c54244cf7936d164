package snapshot

import "git-checkpoint/gitstore/checkpoint"

// OutOfTime is the reason for files skipped after the time limit.
const OutOfTime = checkpoint.OutOfTime
