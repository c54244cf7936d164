package checkpoint

import (
	"strconv"
	"time"
)

// maxAhead is how far a clock may run ahead of the time before it is no
// longer followed: one machine with a wrong date must not drag the others.
const maxAhead = 24 * time.Hour

// Clock orders the checkpoints of an issue over all clones: a hybrid logical
// clock in nanoseconds since the epoch.
type Clock int64

// Next returns the clock of a checkpoint made at now on top of one with clock
// c: now, or one tick after c. A clock more than a day ahead is not followed.
func (c Clock) Next(now time.Time) Clock {
	at := Clock(now.UnixNano())
	if c < at || int64(c)-int64(at) > int64(maxAhead) {
		return at
	}
	return c + 1
}

// Ahead reports whether c lies more than a day after now.
func (c Clock) Ahead(now time.Time) bool {
	at := now.UnixNano()
	return int64(c) > at && int64(c)-at > int64(maxAhead)
}

// String returns the clock as it is written in trailers.
func (c Clock) String() string { return strconv.FormatInt(int64(c), 10) }

// ParseClock reads what String wrote; anything else is refused.
func ParseClock(s string) (Clock, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != s {
		return 0, false
	}
	return Clock(n), true
}
