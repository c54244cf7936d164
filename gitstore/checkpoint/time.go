package checkpoint

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint/document"
)

// ErrNoDate is returned for a time of day without a date.
var ErrNoDate = errors.New("a time of day without a date")

var errTime = errors.New("not a time")

// Moment is a parsed time. Zoned reports whether the text had a time zone; the default is
// UTC.
type Moment struct {
	time.Time
	Zoned bool
}

// FormatTime returns t in the format of records.
func FormatTime(t time.Time) string { return t.UTC().Format(TimeLayout) }

// ParseTime parses a time in any format of real records:
//
//   - RFC 3339 with optional fraction and zone, and with a space or '_' instead of T
//   - a date, the compact forms, and DD-MM-YYYY
//   - a time followed by " | text"
//   - seconds, milliseconds, microseconds or nanoseconds since the epoch, as number or text
func ParseTime(v any) (time.Time, error) {
	m, err := ReadTime(v)
	return m.Time, err
}

// ReadTime is ParseTime with the additional result Zoned.
func ReadTime(v any) (Moment, error) {
	switch v := document.ValueOf(v).(type) {
	case Number:
		return epoch(string(v))
	case string:
		return readTime(strings.TrimSpace(v))
	case nil:
		return Moment{}, fmt.Errorf("time: %w: absent", errTime)
	default:
		return Moment{}, fmt.Errorf("time: %w: %s", errTime, document.KindOf(v))
	}
}

// readTime selects the format by the number of leading digits.
func readTime(s string) (Moment, error) {
	c := clockText{s: s}
	rest := document.Digits(s)
	ok := false
	switch n := len(s) - len(rest); {
	case n == 14 && c.compact() && c.timeCompact():
		ok = true
	case rest == "" && n >= 9 || strings.HasPrefix(rest, ".") && n >= 9:
		return epoch(s)
	case n == 8:
		c = clockText{s: s}
		ok = c.compact() && (c.s == "" || c.separator() && c.timeCompact())
	case n == 4:
		ok = c.date() && (c.s == "" || c.separator() && c.timeOfDay())
	case n == 2 && strings.HasPrefix(rest, ":"):
		if c.timeOfDay() && c.s == "" {
			return Moment{}, fmt.Errorf("time %q: %w", s, ErrNoDate)
		}
	case n == 2:
		ok = c.dayFirst() && (c.s == "" || c.separator() && c.timeOfDay())
	}
	if !ok || !c.zone() || !c.end() {
		return Moment{}, fmt.Errorf("time %.60q: %w", s, errTime)
	}
	return c.moment()
}
