package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SettingError is a setting that cannot be accepted.
type SettingError struct {
	File         string // the file's name, or the source in words
	Line, Column int    // 1-based; 0 when unknown or not a file
	Key          string // the setting, "" when the whole file is wrong
	Msg          string
	Hint         string // a command to type, or ""
}

func (e *SettingError) Error() string {
	var b strings.Builder
	b.WriteString("config: " + e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, ":%d", e.Column)
		}
	}
	if e.Key != "" {
		b.WriteString(": " + e.Key)
	}
	return b.String() + ": " + e.Msg
}

// shown makes text of unknown origin short and printable for a message.
func shown(s string) string {
	const most = 60
	if len(s) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "..."
	}
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) {
		return strconv.QuoteToASCII(s)
	}
	return s
}
