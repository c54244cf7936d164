// Package failure has the exit codes of the program, the errors that carry them, and their
// hints: the command to type next. The codes are a contract with scripts. Codes are only
// added.
package failure

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// The exit codes.
const (
	OK          = 0
	Failure     = 1
	Usage       = 2
	None        = 3
	StartFresh  = 4
	NeedsAnswer = 5
	Invalid     = 6
	Version     = 7
	Refused     = 8
	Stale       = 9
	Repository  = 10
	Remote      = 11
	Partial     = 12
	Secrets     = 13
	Limit       = 14
	Interrupted = 130
)

// kinds maps exit codes to their names in JSON.
var kinds = [...]string{
	Failure: "failure", Usage: "usage", None: "none", StartFresh: "start_fresh",
	NeedsAnswer: "needs_answer", Invalid: "invalid", Version: "version", Refused: "refused",
	Stale: "stale", Repository: "repository", Remote: "remote", Partial: "partial", Secrets: "secrets", Limit: "limit", Interrupted: "interrupted",
}

// Kind returns the name of an exit code in JSON.
func Kind(code int) string {
	if code < 0 || code >= len(kinds) {
		return ""
	}
	return kinds[code]
}

// Codes returns the exit codes of failures, in order.
func Codes() (codes []int) {
	for code, kind := range kinds {
		if kind != "" {
			codes = append(codes, code)
		}
	}
	return codes
}

// Upgrade is the hint for data of a later version of this program.
const Upgrade = "upgrade git-checkpoint"

// Correct returns the hint for a document that breaks rules. An empty file means standard
// input.
func Correct(file string) string {
	if file == "" {
		return "fix the document, then run the command again"
	}
	return "fix " + Quote(file) + ", then run the command again"
}

// Plural returns a number with its noun for messages, such as "1 file" or "3 files".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Printable quotes a text with control characters. Records and issues come from others, and
// messages are printed to terminals. Other text is returned unchanged.
func Printable(s string) string {
	for _, r := range s {
		if !strconv.IsPrint(r) || r == '\uFFFD' {
			return strconv.QuoteToGraphic(s)
		}
	}
	return s
}

// Quote quotes s as a word of a shell command.
func Quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune("_./:=@~^-", r) }) {
		return s
	}
	return QuoteStrict(s)
}

// PathArgs quotes paths of the worktree as arguments of a command that is run below the root in the directory
// prefix.
func PathArgs(prefix string, paths ...string) string {
	words := make([]string, len(paths))
	for i, path := range paths {
		if prefix != "" || strings.HasPrefix(path, ":") {
			path = ":/" + path
		}
		words[i] = QuoteStrict(path)
	}
	return strings.Join(words, " ")
}

// QuoteStrict quotes any s as one word of a POSIX shell, also at the start of a command.
// NUL bytes are removed, because shell words cannot contain them. The result may be unsafe
// for terminals.
func QuoteStrict(s string) string {
	s = strings.ReplaceAll(s, "\x00", "")
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune("_-./:,+@", r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// IssueArg quotes the key of an issue as an argument of a command. A key with spaces, and
// a key that begins with "-", needs the flag.
func IssueArg(key string) string {
	switch arg := Quote(key); {
	case strings.HasPrefix(key, "-"):
		return "--issue=" + arg
	case strings.ContainsFunc(key, unicode.IsSpace):
		return "--issue " + arg
	default:
		return arg
	}
}
