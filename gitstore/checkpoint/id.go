package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"git-checkpoint/gitstore/checkpoint/document"
)

// ID identifies a checkpoint: CP-<phase>-<time>-<hex>, or an id of another system.
type ID string

// Limits of ids: accepted length, and length of the phase in a new id.
const (
	maxIDBytes   = 200
	maxPhaseInID = 64
	minHexDigits = 4
	maxHexDigits = 64
	idTimeLayout = "20060102T150405Z"
)

// NewID returns an id from phase, time and the first four bytes of digest. If digest is
// shorter, its SHA-256 is used. The phase is converted to lower case, with '_' for bytes
// outside [a-z0-9_]. An empty phase becomes "none".
func NewID(phase string, at time.Time, digest []byte) ID {
	if len(digest) < 4 {
		sum := sha256.Sum256(digest)
		digest = sum[:]
	}
	return ID("CP-" + idPhase(phase) + "-" + at.UTC().Format(idTimeLayout) + "-" + hex.EncodeToString(digest[:4]))
}

// ParseID checks s and returns it as an ID. Ids of other systems are valid if they are
// printable, have no space, do not start with '-', and have at most 200 bytes.
func ParseID(s string) (ID, error) {
	switch {
	case s == "":
		return "", errors.New("checkpoint id: empty")
	case len(s) > maxIDBytes:
		return "", fmt.Errorf("checkpoint id %.40q...: longer than %d bytes", s, maxIDBytes)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }):
		return "", fmt.Errorf("checkpoint id %q: contains a space or an unprintable character", s)
	case s[0] == '-':
		return "", fmt.Errorf("checkpoint id %q: begins with '-'", s)
	}
	return ID(s), nil
}

// MaxAfter limits the ids of the checkpoints that a checkpoint names as those that it came after.
const MaxAfter = 8

// Own reports whether the id has the form of git-checkpoint and crunch:
// ^CP-[a-z0-9_]+-.+-[0-9a-f]{4,64}$. Every save calls Own, and compiling this expression
// would take more time than all other operations on the id.
func (id ID) Own() bool {
	rest, found := strings.CutPrefix(string(id), "CP-")
	phase, rest, _ := strings.Cut(rest, "-")
	at := strings.LastIndexByte(rest, '-')
	return found && phase != "" && strings.Trim(phase, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" &&
		at > 0 && !strings.Contains(rest[:at], "\n") && isHex(rest[at+1:], minHexDigits, maxHexDigits)
}

// Short returns the abbreviation for display: the final digits of an own id, or the whole
// foreign id.
func (id ID) Short() string {
	if !id.Own() {
		return string(id)
	}
	return string(id[strings.LastIndexByte(string(id), '-')+1:])
}

// Matches reports whether abbrev identifies the id. Valid abbreviations are the whole id,
// and a prefix that includes part of the time. At least four of the final hex digits are
// also valid, from their start or end.
func (id ID) Matches(abbrev string) bool {
	s := string(id)
	if abbrev == "" || abbrev == s {
		return abbrev != ""
	}
	if at := id.timeAt(); at > 0 && len(abbrev) > at && strings.HasPrefix(s, abbrev) {
		return true
	}
	digits := id.finalHex()
	if digits == "" || len(abbrev) < minHexDigits {
		return false
	}
	return strings.HasPrefix(digits, abbrev) || strings.HasSuffix(digits, abbrev)
}

// Clock orders the checkpoints of an issue across all clones. It is a hybrid logical
// clock in nanoseconds since the epoch.
type Clock int64

// latestTime limits the clock of a time: the year 2116. The 2^62 nanoseconds above this
// limit are reserved for increments of later checkpoints.
const latestTime Clock = 1 << 62

// ClockAt returns the clock of a time, between 0 and latestTime.
func ClockAt(t time.Time) Clock {
	switch sec := t.Unix(); {
	case sec < 0:
		return 0
	case sec >= int64(latestTime)/int64(time.Second):
		return latestTime
	}
	return Clock(t.UnixNano())
}

// Next returns the clock for a checkpoint saved at now with a parent checkpoint at clock
// c. The result is greater than c, even if c is years ahead of now. So a checkpoint sorts
// after all its ancestors at the save. The only exception is the largest possible clock, which only
// a forged fact has. Next then returns the clock of now.
func (c Clock) Next(now time.Time) Clock {
	at := ClockAt(now)
	if c < at || c == math.MaxInt64 {
		return at
	}
	return c + 1
}

// MaxAhead is the lead over the time of the save from which a clock is wrong.
const MaxAhead = 24 * time.Hour

// Saved returns the clock that counts for a checkpoint whose commit has the committer time at: c,
// or this time if c is more than a day ahead of it.
func (c Clock) Saved(at time.Time) Clock {
	if c.Ahead(at) {
		return ClockAt(at)
	}
	return c
}

// Ahead reports whether c is more than a day after now.
func (c Clock) Ahead(now time.Time) bool {
	at := ClockAt(now)
	return c > at && c-at > Clock(MaxAhead)
}

// String returns the decimal form for trailers.
func (c Clock) String() string { return strconv.FormatInt(int64(c), 10) }

// ParseClock parses the output of String and returns false for other text.
func ParseClock(s string) (Clock, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != s {
		return 0, false
	}
	return Clock(n), true
}

func idPhase(phase string) string {
	if phase == "" {
		return "none"
	}
	b := []byte(strings.ToLower(phase))
	for k, c := range b {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			b[k] = '_'
		}
	}
	return string(b[:min(len(b), maxPhaseInID)])
}

// isHex reports whether s consists of least to most lower-case hex digits.
func isHex(s string, least, most int) bool {
	return len(s) >= least && len(s) <= most && strings.Trim(s, "0123456789abcdef") == ""
}

var longRun = document.Pattern(`[0-9]{8}`)

// timeAt returns the index of the time in the id, 0 without a time.
func (id ID) timeAt() int {
	s := string(id)
	if id.Own() {
		return len("CP-") + strings.IndexByte(s[len("CP-"):], '-') + 1
	}
	if m := longRun().FindStringIndex(s); m != nil {
		return m[0]
	}
	return 0
}

// finalHex returns the hex digits after the last dash or underscore, "" if other
// characters follow.
func (id ID) finalHex() string {
	at := strings.LastIndexAny(string(id), "-_")
	if at < 0 || !isHex(string(id[at+1:]), minHexDigits, maxHexDigits) {
		return ""
	}
	return string(id[at+1:])
}
