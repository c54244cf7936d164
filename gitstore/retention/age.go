package retention

import (
	"slices"
	"time"
)

const day = 24 * 60 * 60 // seconds

// maxDays bounds a number of days: far beyond any clock, and small enough that
// counting its seconds cannot overflow.
const maxDays = 1 << 40

// Older reports whether t lies more than days x 86,400 seconds before now. It
// counts as git does, in whole seconds of t. An unknown time and a number of
// days of 0 or less are never older.
func Older(t time.Time, days int, now time.Time) bool {
	if t.IsZero() || days <= 0 || int64(days) > maxDays {
		return false
	}
	age, limit := now.Unix()-t.Unix(), int64(days)*day
	return age > limit || age == limit && now.Nanosecond() > 0
}

// Aged reports whether a whole chain is old: all its checkpoints are Older.
// Pins beat age, and so does one unknown time; an empty chain is never aged.
func Aged(items []Item, days int, now time.Time) bool {
	for _, it := range items {
		if it.Pinned || !Older(it.Created, days, now) {
			return false
		}
	}
	return len(items) > 0
}

// Whole reports whether a chain may go to the archive as a whole: no pin keeps
// it, and there is something.
func Whole(items []Item) bool {
	return len(items) > 0 && !slices.ContainsFunc(items, func(it Item) bool { return it.Pinned })
}
