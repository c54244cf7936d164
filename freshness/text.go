package freshness

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// printable quotes text with control characters. Records and issues are untrusted, and
// messages are printed to terminals. Other text is returned unchanged.
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

// command joins words into a shell command. It quotes words with shell syntax, since a
// branch may have the name $(reboot). It returns "" if a word contains control
// characters. No quoting makes such characters safe on a terminal.
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

// short abbreviates a full object id to 12 digits. Other names are returned unchanged.
func short(rev string) string {
	if len(rev) < 40 {
		return rev
	}
	return rev[:12]
}

// commit returns a short commit id for messages, or a text for an unborn branch.
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
