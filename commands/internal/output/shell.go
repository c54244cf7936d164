package output

import "strings"

// Shell quotes any s as one word of a POSIX shell. NUL bytes are removed, because shell
// words cannot contain them. The result is exact but not clean: it may be unsafe for
// terminals.
func Shell(s string) string {
	s = strings.ReplaceAll(s, "\x00", "")
	if s != "" && !strings.ContainsFunc(s, special) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// special reports whether any shell, POSIX or other, may treat r as special in a word.
func special(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("_-./:,+@", r)
}
