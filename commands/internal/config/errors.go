package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"git-checkpoint/commands/internal/exit"
)

// SettingError reports an invalid setting with its position.
type SettingError struct {
	File         string // file name, or a description of another source
	Line, Column int    // 1-based; 0 if unknown or outside files
	Key          string // setting; empty if the whole file is invalid
	Msg          string
	Hint         string // suggested command, or ""
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

// ExitCode returns the exit code of the error.
func (e *SettingError) ExitCode() int { return exit.Usage }

// ExitHint returns the command to run next, or "".
func (e *SettingError) ExitHint() string { return e.Hint }

// shown shortens untrusted text and quotes unprintable characters for a message.
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
