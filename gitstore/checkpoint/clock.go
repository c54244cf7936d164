package checkpoint

import (
	"math"
	"strconv"
	"time"
)

// maxAhead is the lead over the present time from which a clock is reported as
// wrong.
const maxAhead = 24 * time.Hour

// latestTime bounds the clock that ClockAt reads from a time, in the year 2116.
// The 2^62 nanoseconds above it leave room for the ticks of later checkpoints.
const latestTime Clock = 1 << 62

// Clock orders the checkpoints of an issue over all clones: a hybrid logical
// clock in nanoseconds since the epoch.
type Clock int64

// ClockAt returns the clock of a time, between 0 and latestTime.
func ClockAt(t time.Time) Clock {
	switch sec := t.Unix(); {
	case sec < 0:
		return 0
	case sec >= int64(latestTime)/int64(time.Second):
		return latestTime
	}
	return Clock(t.UnixNano())
}

// Next returns the clock of a checkpoint that is saved at now on top of a
// checkpoint with clock c. It is always after c, so a checkpoint sorts after
// every checkpoint that it was saved on top of, even if c is years ahead of now.
// Only the largest possible clock, which no save sets, has no next clock: the
// clock of now follows it.
func (c Clock) Next(now time.Time) Clock {
	at := ClockAt(now)
	if c < at || c.IsLast() {
		return at
	}
	return c + 1
}

// IsLast reports whether c is the largest possible clock.
func (c Clock) IsLast() bool { return c == math.MaxInt64 }

// Ahead reports whether c lies more than a day after now.
func (c Clock) Ahead(now time.Time) bool {
	at := ClockAt(now)
	return c > at && c-at > Clock(maxAhead)
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
