package retention

import (
	"slices"
	"time"
)

const day = 24 * 60 * 60 // seconds

// maxDays limits a number of days, so that the conversion to seconds cannot overflow.
const maxDays = 1 << 40

// Older reports whether t is more than days*86,400 seconds before now. Like a git commit,
// t counts in whole seconds. It returns false if t is zero or if days is 0 or negative.
func Older(t time.Time, days int, now time.Time) bool {
	if t.IsZero() || days <= 0 || int64(days) > maxDays {
		return false
	}
	age, limit := now.Unix()-t.Unix(), int64(days)*day
	return age > limit || age == limit && now.Nanosecond() > 0
}

// Aged reports whether all checkpoints of a chain are Older. It returns false for an
// empty chain, and if a checkpoint is pinned or has an unknown time.
func Aged(items []Item, days int, now time.Time) bool {
	for _, it := range items {
		if it.Pinned || !Older(it.Created, days, now) {
			return false
		}
	}
	return len(items) > 0
}

// Whole reports whether a chain can be archived as a whole: the chain is not empty, and
// no checkpoint is pinned.
func Whole(items []Item) bool {
	return len(items) > 0 && !slices.ContainsFunc(items, func(it Item) bool { return it.Pinned })
}
