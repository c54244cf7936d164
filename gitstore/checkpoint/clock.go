package checkpoint

import (
	"math"
	"strconv"
	"time"
)

// maxAhead is the lead over the current time at which a clock is reported as wrong.
const maxAhead = 24 * time.Hour

// latestTime limits the clock of a time: the year 2116. The 2^62 nanoseconds above this
// limit are reserved for increments of later checkpoints.
const latestTime Clock = 1 << 62

// Clock orders the checkpoints of an issue across all clones. It is a hybrid logical
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

// Next returns the clock for a checkpoint saved at now with a parent checkpoint at clock
// c. The result is greater than c, even if c is years ahead of now. So a checkpoint sorts
// after all its ancestors at the save. The only exception is the largest possible clock,
// which no save sets. Next then returns the clock of now.
func (c Clock) Next(now time.Time) Clock {
	at := ClockAt(now)
	if c < at || c.IsLast() {
		return at
	}
	return c + 1
}

// IsLast reports whether c is the largest possible clock.
func (c Clock) IsLast() bool { return c == math.MaxInt64 }

// Ahead reports whether c is more than a day after now.
func (c Clock) Ahead(now time.Time) bool {
	at := ClockAt(now)
	return c > at && c-at > Clock(maxAhead)
}

// String returns the decimal form for trailers.
func (c Clock) String() string { return strconv.FormatInt(int64(c), 10) }

// ParseClock parses the output of String and returns false for other text.
func ParseClock(s string) (Clock, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != s {
		return 0, false
	}
	return Clock(n), true
}

// DocumentValue returns the clock as a number.
func (c Clock) DocumentValue() any { return Int(int64(c)) }
