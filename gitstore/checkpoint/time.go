package checkpoint

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// TimeLayout is the one shape in which times are written: UTC, fixed width.
const TimeLayout = "2006-01-02T15:04:05.000000Z"

// ErrNoDate is what reading a time of day alone gives: ParseTimeOn takes the
// day from elsewhere.
var ErrNoDate = errors.New("a time of day without a date")

var errTime = errors.New("not a time")

// Moment is a time and whether its text named a zone. One without is taken as
// UTC.
type Moment struct {
	time.Time
	Zoned bool
}

// FormatTime returns t as it is written in records.
func FormatTime(t time.Time) string { return t.UTC().Format(TimeLayout) }

// ParseTime reads a time in any shape that real records have: RFC 3339 with or
// without fraction and zone, a blank or '_' for its T, a date alone, the
// compact forms, DD-MM-YYYY, a time followed by " | text", and seconds,
// milliseconds, microseconds or nanoseconds since the epoch as number or text.
func ParseTime(v any) (time.Time, error) {
	m, err := ReadTime(v)
	return m.Time, err
}

// ParseTimeOn is ParseTime, but gives a time of day the date of day.
func ParseTimeOn(v any, day time.Time) (time.Time, error) {
	t, err := ParseTime(v)
	if !errors.Is(err, ErrNoDate) {
		return t, err
	}
	c := clockText{s: strings.TrimSpace(asText(v))}
	if !c.timeOfDay() || c.s != "" {
		return time.Time{}, err
	}
	c.year, c.day = day.UTC().Year(), day.UTC().Day()
	c.month = int(day.UTC().Month())
	m, err := c.moment()
	return m.Time, err
}

// ReadTime is ParseTime that also tells whether there was a zone.
func ReadTime(v any) (Moment, error) {
	switch v := value(v).(type) {
	case Number:
		return epoch(string(v))
	case string:
		return readTime(strings.TrimSpace(v))
	case nil:
		return Moment{}, fmt.Errorf("time: %w: absent", errTime)
	default:
		return Moment{}, fmt.Errorf("time: %w: %s", errTime, kindOf(v))
	}
}

// readTime tells the shapes apart by how many digits they begin with.
func readTime(s string) (Moment, error) {
	c := clockText{s: s}
	rest := digits(s)
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

// clockText takes the parts of a time off the front of s.
type clockText struct {
	s                 string
	year, month, day  int
	hour, minute, sec int
	nanos, offset     int
	zoned             bool
}

// take reads n digits into each of the targets in turn, after the separator.
func (c *clockText) take(n int, to *int) bool {
	if len(c.s) < n || len(c.s)-len(digits(c.s)) < n {
		return false
	}
	*to, _ = strconv.Atoi(c.s[:n])
	c.s = c.s[n:]
	return true
}

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

func (c *clockText) dayFirst() bool {
	return c.take(2, &c.day) && c.skip("-") && c.take(2, &c.month) && c.skip("-") && c.take(4, &c.year)
}

func (c *clockText) compact() bool {
	return c.take(4, &c.year) && c.take(2, &c.month) && c.take(2, &c.day)
}

func (c *clockText) separator() bool { return c.skip("Tt _") }

func (c *clockText) timeCompact() bool {
	return c.take(2, &c.hour) && c.take(2, &c.minute) && c.take(2, &c.sec)
}

// timeOfDay reads HH:MM, HH:MM:SS and a fraction of any length.
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
		frac := c.s[1 : len(c.s)-len(digits(c.s[1:]))]
		c.s = c.s[1+len(frac):]
		c.nanos, _ = strconv.Atoi((frac + "000000000")[:9])
		return frac != ""
	}
	return true
}

// zone reads Z, UTC, GMT, +02:00, +0200 or +02; no zone is fine too.
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

// end allows for a text in a further column.
func (c *clockText) end() bool {
	rest := strings.TrimLeft(c.s, " ")
	return rest == "" || rest[0] == '|'
}

// moment puts the parts together and refuses a day that does not exist.
func (c *clockText) moment() (Moment, error) {
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

func inRange(t time.Time, zoned bool) (Moment, error) {
	if t.Year() < 1 || t.Year() > 9999 {
		return Moment{}, fmt.Errorf("time: %w: year %d", errTime, t.Year())
	}
	return Moment{t, zoned}, nil
}

// The magnitudes that tell the units of an epoch number apart. Seconds begin
// in 1973: smaller numbers are no times.
const (
	leastSeconds = 1e8
	leastMillis  = 1e11
	leastMicros  = 1e14
	leastNanos   = 1e17
)

// epoch reads a number since the epoch, without a detour over floats where it
// is written out.
func epoch(s string) (Moment, error) {
	whole, frac, _ := strings.Cut(s, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || digits(frac) != "" {
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
