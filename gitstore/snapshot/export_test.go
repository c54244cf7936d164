package snapshot

// OutOfTime is the reason that is given when the time is spent.
const OutOfTime = outOfTime
