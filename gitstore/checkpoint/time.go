package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint/document"
)

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
	if err != nil || strings.Trim(frac, "0123456789") != "" {
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

// dateTime matches a date in one of its three forms, an optional time of day with an optional
// zone, and an optional further column after '|'.
var dateTime = document.Pattern(`(?s)^(\d{4}-\d\d-\d\d|\d{8}|\d\d-\d\d-\d{4})` +
	`(?:[Tt _]?(\d\d:?\d\d)(?::?(\d\d)([.,]\d+)?)? *(Z|z|UTC|GMT|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)? *(?:\|.*)?$`)

// epochText matches a number since the epoch. Texts of 8 and 14 digits are compact dates.
var epochText = document.Pattern(`^(?:\d{9,13}|\d{15,})(?:\.\d*)?$`)

func readTime(s string) (Moment, error) {
	if epochText().MatchString(s) {
		return epoch(s)
	}
	m := dateTime().FindStringSubmatch(s)
	if m == nil {
		return Moment{}, fmt.Errorf("time %.60q: %w", s, errTime)
	}
	date, clock, seconds, fraction, zone := m[1], cmp.Or(m[2], "0000"), cmp.Or(m[3], "00"), m[4], m[5]
	if date[2] == '-' { // the day comes first
		date = date[6:] + date[3:5] + date[:2]
	}
	leap := time.Duration(0)
	if seconds == "60" { // package time knows no leap seconds
		seconds, leap = "59", time.Second
	}
	offset := "+0000"
	if strings.HasPrefix(zone, "+") || strings.HasPrefix(zone, "-") {
		offset = (strings.ReplaceAll(zone, ":", "") + "00")[:5]
	}
	date, clock = strings.ReplaceAll(date, "-", ""), strings.ReplaceAll(clock, ":", "")
	t, err := time.Parse("20060102150405-0700", date+clock+seconds+fraction+offset)
	if err != nil {
		return Moment{}, fmt.Errorf("time %.60q: %w: out of range", s, errTime)
	}
	return inRange(t.UTC().Add(leap), zone != "")
}
