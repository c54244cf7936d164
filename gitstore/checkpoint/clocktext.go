package checkpoint

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint/document"
)

// clockText parses the parts of a time from the start of s.
type clockText struct {
	s                 string
	year, month, day  int
	hour, minute, sec int
	nanos, offset     int
	zoned             bool
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

// moment returns the parsed time. It fails if a value is out of range or the day does not
// exist.
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
