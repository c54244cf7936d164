package gitstore

import (
	"cmp"
	"strings"
)

// shellQuote quotes s as one shell word in a hint. Names of issues, branches and remotes
// may contain any character.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-./:,+@", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// first returns the first non-empty text, or "".
func first(values ...string) string { return cmp.Or(values...) }
