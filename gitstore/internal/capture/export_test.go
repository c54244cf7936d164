package capture

import "git-checkpoint/gitstore/checkpoint"

// OutOfTime is the reason that is given when the time is spent.
const OutOfTime = checkpoint.OutOfTime
