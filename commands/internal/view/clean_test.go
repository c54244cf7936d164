package view

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClean(t *testing.T) {
	tests := []struct{ name, in, line, block string }{
		{"plain", "batch 3: done", "batch 3: done", "batch 3: done"},
		{"empty", "", "", ""},
		{"lines", "a\nb\r\nc\td", "a b c d", "a\nb\nc\td"},
		{"carriage return", "good\rbad", "good bad", `good\x0dbad`},
		{"colour", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`, `\x1b[31mred\x1b[0m`},
		{"title", "\x1b]0;x\a", `\x1b]0;x\x07`, `\x1b]0;x\x07`},
		{"NUL, backspace, DEL", "a\x00\b\x7f", `a\x00\x08\x7f`, `a\x00\x08\x7f`},
		{"C1", "\u009b31m\u0085", `\u009b31m `, `\u009b31m\u0085`},
		{"C1 as bytes", "\x9b31m", `\x9b31m`, `\x9b31m`},
		{"direction", "a\u202eb\u2066c\u200fd\u061ce", `a\u202eb\u2066c\u200fd\u061ce`, `a\u202eb\u2066c\u200fd\u061ce`},
		{"invisible", "a\u200bb\ufeffc\u00add\u2060e", `a\u200bb\ufeffc\u00add\u2060e`, `a\u200bb\ufeffc\u00add\u2060e`},
		{"tags", "a\U000e0041", `a\U000e0041`, `a\U000e0041`},
		{"separators", "a\u2028b\u2029c", "a b c", `a\u2028b\u2029c`},
		{"not UTF-8", "caf\xe9 \xff\xfe", `caf\xe9 \xff\xfe`, `caf\xe9 \xff\xfe`},
		{"surrogate", "\xed\xa0\x80", `\xed\xa0\x80`, `\xed\xa0\x80`},
		{"replacement character", "a\ufffd", "a\ufffd", "a\ufffd"},
		{"private use", "\ue0a0", `\ue0a0`, `\ue0a0`},
		{"scripts", "caf\u00e9 \u65e5\u672c \u0645\u06cc\u200c\u0634\u0648\u062f \u00a0\u3000", "caf\u00e9 \u65e5\u672c \u0645\u06cc\u200c\u0634\u0648\u062f \u00a0\u3000", "caf\u00e9 \u65e5\u672c \u0645\u06cc\u200c\u0634\u0648\u062f \u00a0\u3000"},
		{"heaped accents", "a" + strings.Repeat("\u0301", 8) + "b\u0301", "a" + strings.Repeat("\u0301", 6) + `\u0301\u0301b` + "\u0301", "a" + strings.Repeat("\u0301", 6) + `\u0301\u0301b` + "\u0301"},
		{"heaped joiners", "a" + strings.Repeat("\u200d", 7) + "b", "a" + strings.Repeat("\u200d", 6) + `\u200db`, "a" + strings.Repeat("\u200d", 6) + `\u200db`},
		{"emoji", "\U0001f469\u200d\U0001f4bb \u2764\ufe0f", "\U0001f469\u200d\U0001f4bb \u2764\ufe0f", "\U0001f469\u200d\U0001f4bb \u2764\ufe0f"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.line, Clean(tt.in))
			assert.Equal(t, tt.block, CleanBlock(tt.in))
		})
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[2J\n\u202e\xff\r\n\t\u0085")
	f.Fuzz(func(t *testing.T, s string) {
		line, block := Clean(s), CleanBlock(s)
		for _, got := range []string{line, block} {
			require.True(t, utf8.ValidString(got))
			for _, r := range got {
				require.False(t, unicode.Is(unicode.Bidi_Control, r), "%q", got)
				require.False(t, unicode.IsControl(r) && r != '\n' && r != '\t', "%q", got)
			}
		}
		require.NotContains(t, line, "\n")
		require.NotContains(t, line, "\t")
		require.Equal(t, line, Clean(line))
		require.Equal(t, block, CleanBlock(block))
	})
}

func TestWidth(t *testing.T) {
	tests := []struct {
		in   string
		want int
	}{
		{"", 0},
		{"abc", 3},
		{"caf\u00e9", 4},
		{"cafe\u0301", 4},
		{"\u65e5\u672c", 4},
		{"\uff21\uff71", 3}, // full width A, half width katakana
		{"\uac00", 2},
		{"\u1100\u1161\u11a8", 2},
		{"\U0001f600", 2},
		{"\u2705", 2},
		{"\u2713", 1},
		{"\U0001f469\u200d\U0001f4bb", 2},
		{"a\u200db\u200dc", 3}, // letters around a joiner keep their width
		{"a\u200d\U0001f4bb", 3},
		{"\U0001f1e9\U0001f1ea", 2},
		{"\u2764\ufe0f", 1},
		{"\u0e01\u0e34", 1},
		{"\u200b", 0},
		{"\U00020000", 2},
		{"\U00040000", 1},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, Width(tt.in), "%+q", tt.in)
	}
}

func TestTruncate(t *testing.T) {
	tests := []struct {
		in   string
		n    int
		want string
	}{
		{"abcdef", 6, "abcdef"},
		{"abcdef", 5, "ab..."},
		{"abcdef", 2, ".."},
		{"abcdef", 0, ""},
		{"abcdef", -1, "abcdef"},
		{"\u65e5\u672c\u8a9e", 5, "\u65e5..."},
		{"\u65e5\u672c\u8a9e", 4, "..."},
		{"e\u0301e\u0301e\u0301e\u0301e\u0301", 4, "e\u0301..."},
		{"\U0001f469\u200d\U0001f4bb\U0001f469\u200d\U0001f4bb\U0001f4bb", 5, "\U0001f469\u200d\U0001f4bb..."},
	}
	for _, tt := range tests {
		got := Truncate(tt.in, tt.n)
		assert.Equal(t, tt.want, got)
		assert.True(t, tt.n < 0 || Width(got) <= tt.n)
	}
}
