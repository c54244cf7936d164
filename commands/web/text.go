package web

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"git-checkpoint/commands/internal/view"
)

// line cleans untrusted text for one line.
func line(s string) string { return view.Clean(s) }

// block cleans untrusted multi-line text.
func block(s string) string { return view.CleanBlock(s) }

// cut truncates s to limit bytes at a character boundary.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// firstLine returns the cleaned first line of a text.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return line(cut(s, maxLine))
}

// maxLine limits shown bytes of single-line text.
const maxLine = 400

// A Stamp is a time in formats for users and machines.
type Stamp struct {
	Machine string // RFC 3339
	Exact   string // date and time for users, in the local time zone
	Age     string // age, e.g. "3 h"; "" if the time is unknown
}

func stamp(at, now time.Time) Stamp {
	if at.IsZero() {
		return Stamp{Exact: "at an unknown time"}
	}
	at = at.In(time.Local)
	return Stamp{Machine: at.Format(time.RFC3339), Exact: at.Format("2 Jan 2006, 15:04:05 MST"), Age: age(now.Sub(at))}
}

// Ago returns the age with suffix: "3 h ago".
func (s Stamp) Ago() string {
	if s.Age == "" || s.Age == "now" || strings.HasPrefix(s.Age, "in ") {
		return s.Age
	}
	return s.Age + " ago"
}

// age formats a duration in its largest unit.
func age(d time.Duration) string {
	day := 24 * time.Hour
	switch {
	case d < -time.Minute:
		return "in " + age(-max(d, -math.MaxInt64))
	case d < 5*time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < day:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d < 100*day:
		return fmt.Sprintf("%d d", d/day)
	}
	months := fmt.Sprintf("%d mo", d%(365*day)/(30*day))
	if d < 365*day {
		return months
	}
	return fmt.Sprintf("%d y %s", d/(365*day), months)
}

// count formats a number with a noun and thousands separators.
func count(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return thousands(n) + " " + word
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// size formats a number of bytes for users.
func size(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	f, i := float64(n), 0
	for f >= 1024 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", f, units[i])
}
