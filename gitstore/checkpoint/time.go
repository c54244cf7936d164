package checkpoint

import (
	"errors"
	"time"
)

// TimeLayout is the one shape in which times are written: UTC, fixed width.
const TimeLayout = "2006-01-02T15:04:05.000000Z"

// ErrNoDate is returned for a time of day alone: ParseTimeOn takes the day.
var ErrNoDate = errors.New("a time of day without a date")

// FormatTime returns t as it is written in records.
func FormatTime(t time.Time) string { return t.UTC().Format(TimeLayout) }

// ParseTime reads a time.
func ParseTime(v any) (time.Time, error) {
	s, _ := v.(string)
	return time.Parse(time.RFC3339Nano, s)
}
