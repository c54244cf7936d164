package repo

import (
	"cmp"
	"strings"
)

// ShellQuote quotes s as one shell word in a hint. Names of issues, branches and remotes
// may contain any character.
func ShellQuote(s string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-./:,+@", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// First returns the first non-empty text, or "".
func First(values ...string) string { return cmp.Or(values...) }
