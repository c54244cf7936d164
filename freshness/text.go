package freshness

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// printable keeps control characters out of messages: records and issues come
// from elsewhere, and messages go to terminals. Text without any stays as it is.
func printable(s string) string {
	for _, r := range s {
		if !strconv.IsPrint(r) || r == '\uFFFD' {
			return quoted(s)
		}
	}
	return s
}

func quoted(s string) string { return strconv.QuoteToGraphic(s) }

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._/@+:,^-]+$`) })

// command joins words into a command to be typed, each quoted where a shell
// would take it apart: a branch may be called $(reboot). It is "" when a word
// has control characters, which no quoting makes fit for a terminal.
func command(words ...string) string {
	for k, w := range words {
		switch {
		case printable(w) != w:
			return ""
		case !plainWord().MatchString(w):
			words[k] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// short abbreviates a full object name for reading; other names stay.
func short(rev string) string {
	if len(rev) < 40 {
		return rev
	}
	return rev[:12]
}

// commit is a commit in a message; a HEAD without one has no name.
func commit(rev string) string {
	if rev == "" {
		return "(no commit yet)"
	}
	return short(rev)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
