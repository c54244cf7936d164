package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of an id: what is read, and how much of a phase goes into a new one.
const (
	maxIDBytes   = 200
	maxPhaseInID = 64
	minHexDigits = 4
	maxHexDigits = 64
	idTimeLayout = "20060102T150405Z"
)

// ID names one checkpoint: CP-<phase>-<time>-<hex>, or what another system
// called it.
type ID string

var longRun = pattern(`[0-9]{8}`)

// NewID makes an id from the phase, the time and the first four bytes of
// digest (of its SHA-256 if it is shorter). The phase is lowered and every
// byte outside [a-z0-9_] becomes '_'; no phase is "none".
func NewID(phase string, at time.Time, digest []byte) ID {
	if len(digest) < 4 {
		sum := sha256.Sum256(digest)
		digest = sum[:]
	}
	return ID("CP-" + idPhase(phase) + "-" + at.UTC().Format(idTimeLayout) + "-" + hex.EncodeToString(digest[:4]))
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

// ParseID checks s and returns it as an ID. Ids of other systems are taken as
// they are if they are printable, have no space, do not look like a flag and
// are at most 200 bytes long.
func ParseID(s string) (ID, error) {
	switch {
	case s == "":
		return "", errors.New("checkpoint id: empty")
	case len(s) > maxIDBytes:
		return "", fmt.Errorf("checkpoint id %.40q...: longer than %d bytes", s, maxIDBytes)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unprintable):
		return "", fmt.Errorf("checkpoint id %q: contains a space or an unprintable character", s)
	case s[0] == '-':
		return "", fmt.Errorf("checkpoint id %q: begins with '-'", s)
	}
	return ID(s), nil
}

func unprintable(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }

// Own reports whether the id has the form that this program writes and the
// crunch documents show: ^CP-[a-z0-9_]+-.+-[0-9a-f]{4,64}$. It is asked at every
// save, and compiling that takes longer than all else that is done with an id.
func (id ID) Own() bool {
	rest, found := strings.CutPrefix(string(id), "CP-")
	phase, rest, _ := strings.Cut(rest, "-")
	at := strings.LastIndexByte(rest, '-')
	return found && phase != "" && strings.Trim(phase, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" &&
		at > 0 && !strings.Contains(rest[:at], "\n") && isHex(rest[at+1:], minHexDigits, maxHexDigits)
}

// finalHex are the hex digits after the last dash or underscore, "" where
// something else stands there.
func (id ID) finalHex() string {
	at := strings.LastIndexAny(string(id), "-_")
	if at < 0 || !isHex(string(id[at+1:]), minHexDigits, maxHexDigits) {
		return ""
	}
	return string(id[at+1:])
}

// isHex reports whether s is from least to most hex digits, in lower case.
func isHex(s string, least, most int) bool {
	return len(s) >= least && len(s) <= most && strings.Trim(s, "0123456789abcdef") == ""
}

// Short is what people may type for the id: the last digits of one that this
// program made, else the whole of it.
func (id ID) Short() string {
	if !id.Own() {
		return string(id)
	}
	return string(id[strings.LastIndexByte(string(id), '-')+1:])
}

// Matches reports whether abbrev stands for the id: the whole of it, a prefix
// that reaches into its time, or at least four of its final hex digits (from
// their beginning or up to their end).
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

// timeAt returns where the time begins in the id, or 0 if it has none.
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
