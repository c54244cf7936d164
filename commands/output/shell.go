package output

import "strings"

// Shell quotes s as one word of a POSIX shell, whatever it holds. NUL bytes go,
// for no word can have them. The result is exact, not clean: it is for a shell
// to read.
func Shell(s string) string {
	s = strings.ReplaceAll(s, "\x00", "")
	if s != "" && !strings.ContainsFunc(s, special) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// special reports whether a shell, POSIX or not, may take r for more than
// itself at some place of a word.
func special(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("_-./:,+@", r)
}
