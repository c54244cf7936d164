package web

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"git-checkpoint/commands/output"
)

// line is text from anywhere as one line.
func line(s string) string { return output.Clean(s) }

// block is text from anywhere with its lines.
func block(s string) string { return output.CleanBlock(s) }

// cut shortens text to a number of bytes, at a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// firstLine is the first line of a note.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return line(cut(s, maxLine))
}

// maxLine bounds what is shown of a text on one line.
const maxLine = 400

// A Stamp is a time for people and for machines.
type Stamp struct {
	Machine string // RFC 3339
	Exact   string // for people
	Age     string // "3 h", "" where there is no time
}

func stamp(at, now time.Time) Stamp {
	if at.IsZero() {
		return Stamp{Exact: "at an unknown time"}
	}
	at = at.UTC()
	return Stamp{Machine: at.Format(time.RFC3339), Exact: at.Format("2 Jan 2006, 15:04:05 UTC"), Age: age(now.Sub(at))}
}

// Ago is the age in a sentence: "3 h ago".
func (s Stamp) Ago() string {
	if s.Age == "" || s.Age == "now" || strings.HasPrefix(s.Age, "in ") {
		return s.Age
	}
	return s.Age + " ago"
}

// age is a duration in its largest unit.
func age(d time.Duration) string {
	day := 24 * time.Hour
	switch {
	case d < -time.Minute:
		return "in " + age(-max(d, -math.MaxInt64))
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < day:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d < 100*day:
		return fmt.Sprintf("%d d", d/day)
	}
	return fmt.Sprintf("%d y %d mo", d/(365*day), d%(365*day)/(30*day))
}

// count is a number with its word, its thousands apart.
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

// short is the end of an id that tells it from others: the hex digits, or what
// there is.
func short(id string) string {
	if i := strings.LastIndexByte(id, '-'); strings.HasPrefix(id, "CP-") && i > 0 && len(id)-i == 9 {
		return id[i+1:]
	}
	return line(cut(id, 24))
}

// size is a number of bytes for people.
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
