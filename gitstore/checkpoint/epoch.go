package checkpoint

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint/document"
)

// Minimum magnitudes for each unit of an epoch number. Seconds start in 1973; smaller
// numbers are not times.
const (
	leastSeconds = 1e8
	leastMillis  = 1e11
	leastMicros  = 1e14
	leastNanos   = 1e17
)

// epoch parses a number since the epoch. It avoids floats unless the number has an
// exponent.
func epoch(s string) (Moment, error) {
	whole, frac, _ := strings.Cut(s, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || document.Digits(frac) != "" {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || math.Abs(f) >= math.MaxInt64 {
			return Moment{}, fmt.Errorf("time %.60q: %w", s, errTime)
		}
		n, frac = int64(f), ""
	}
	unit := time.Duration(0)
	switch {
	case n >= leastNanos:
		unit = time.Nanosecond
	case n >= leastMicros:
		unit = time.Microsecond
	case n >= leastMillis:
		unit = time.Millisecond
	case n >= leastSeconds:
		nanos, _ := strconv.Atoi((frac + "000000000")[:9])
		return inRange(time.Unix(n, int64(nanos)).UTC(), true)
	default:
		return Moment{}, fmt.Errorf("time %.60q: %w", s, errTime)
	}
	per := int64(time.Second / unit)
	return inRange(time.Unix(n/per, n%per*int64(unit)).UTC(), true)
}
