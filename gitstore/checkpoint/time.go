package checkpoint

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint/document"
)

// ErrNoDate is returned for a time of day without a date.
var ErrNoDate = errors.New("a time of day without a date")

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

var errTime = errors.New("not a time")

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

func inRange(t time.Time, zoned bool) (Moment, error) {
	if t.Year() < 1 || t.Year() > 9999 {
		return Moment{}, fmt.Errorf("time: %w: year %d", errTime, t.Year())
	}
	return Moment{t, zoned}, nil
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
	case n == 2: // the day comes first
		ok = c.take(2, &c.day) && c.skip("-") && c.take(2, &c.month) && c.skip("-") && c.take(4, &c.year) && (c.s == "" || c.separator() && c.timeOfDay())
	}
	if !ok || !c.zone() || !c.end() {
		return Moment{}, fmt.Errorf("time %.60q: %w", s, errTime)
	}
	if c.month < 1 || c.month > 12 || c.hour > 23 || c.minute > 59 || c.sec > 60 {
		return Moment{}, fmt.Errorf("time: %w: out of range", errTime)
	}
	day := time.Date(c.year, time.Month(c.month), c.day, 0, 0, 0, 0, time.UTC)
	if day.Day() != c.day {
		return Moment{}, fmt.Errorf("time: %w: no such day", errTime)
	}
	t := time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.sec, c.nanos, time.FixedZone("", c.offset)).UTC()
	return inRange(t, c.zoned)
}

// clockText parses the parts of a time from the start of s.
type clockText struct {
	s                 string
	year, month, day  int
	hour, minute, sec int
	nanos, offset     int
	zoned             bool
}

func (c *clockText) compact() bool {
	return c.take(4, &c.year) && c.take(2, &c.month) && c.take(2, &c.day)
}

// take parses n digits into to.
func (c *clockText) take(n int, to *int) bool {
	if len(c.s) < n || len(c.s)-len(document.Digits(c.s)) < n {
		return false
	}
	*to, _ = strconv.Atoi(c.s[:n])
	c.s = c.s[n:]
	return true
}

func (c *clockText) timeCompact() bool {
	return c.take(2, &c.hour) && c.take(2, &c.minute) && c.take(2, &c.sec)
}

func (c *clockText) separator() bool { return c.skip("Tt _") }

func (c *clockText) skip(chars string) bool {
	if c.s == "" || strings.IndexByte(chars, c.s[0]) < 0 {
		return false
	}
	c.s = c.s[1:]
	return true
}

func (c *clockText) date() bool {
	return c.take(4, &c.year) && c.skip("-") && c.take(2, &c.month) && c.skip("-") && c.take(2, &c.day)
}

// timeOfDay parses HH:MM or HH:MM:SS with an optional fraction of any length.
func (c *clockText) timeOfDay() bool {
	if !c.take(2, &c.hour) || !c.skip(":") || !c.take(2, &c.minute) {
		return false
	}
	if !c.skip(":") {
		return true
	}
	if !c.take(2, &c.sec) {
		return false
	}
	if strings.HasPrefix(c.s, ".") || strings.HasPrefix(c.s, ",") {
		frac := c.s[1 : len(c.s)-len(document.Digits(c.s[1:]))]
		c.s = c.s[1+len(frac):]
		c.nanos, _ = strconv.Atoi((frac + "000000000")[:9])
		return frac != ""
	}
	return true
}

// zone parses an optional time zone: Z, UTC, GMT, +02:00, +0200 or +02.
func (c *clockText) zone() bool {
	rest := strings.TrimLeft(c.s, " ")
	for _, name := range []string{"UTC", "GMT", "Z", "z"} {
		if tail, ok := strings.CutPrefix(rest, name); ok {
			c.s, c.zoned = tail, true
			return true
		}
	}
	if rest == "" || rest[0] != '+' && rest[0] != '-' {
		return true
	}
	hours, minutes := 0, 0
	sign := 1
	if rest[0] == '-' {
		sign = -1
	}
	c.s, c.zoned = rest[1:], true
	if !c.take(2, &hours) {
		return false
	}
	if c.skip(":") || c.s != "" && c.s[0] >= '0' && c.s[0] <= '9' {
		if !c.take(2, &minutes) {
			return false
		}
	}
	c.offset = sign * (hours*3600 + minutes*60)
	return hours < 24 && minutes < 60
}

// end reports whether the text ends, possibly with a further column after '|'.
func (c *clockText) end() bool {
	rest := strings.TrimLeft(c.s, " ")
	return rest == "" || rest[0] == '|'
}
