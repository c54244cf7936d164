package view

import (
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore/checkpoint"
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
		{"\u2764\ufe0f", 2},
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

func TestAgo(t *testing.T) {
	now := time.Date(2026, 2, 14, 14, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{-time.Hour, "just now"},
		{0, "just now"},
		{59 * time.Second, "just now"},
		{time.Minute, "1 minute ago"},
		{119 * time.Second, "1 minute ago"},
		{12*time.Minute + 59*time.Second, "12 minutes ago"},
		{59*time.Minute + 59*time.Second, "59 minutes ago"},
		{time.Hour, "1 hour ago"},
		{23*time.Hour + 59*time.Minute, "23 hours ago"},
		{24 * time.Hour, "1 day ago"},
		{8 * 24 * time.Hour, "8 days ago"},
	} {
		assert.Equal(t, c.want, Ago(now.Add(-c.d), now), c.d.String())
	}
}

func TestQuotes(t *testing.T) {
	for in, want := range map[string]string{
		"src/a.go": "src/a.go", "a b": "a b", "a\tb": `"a\tb"`, "\u202ex": `"\u202ex"`, "caf\xe9": `"caf\351"`, "café": "café",
	} {
		assert.Equal(t, want, QuotePath(in))
	}
	for in, want := range map[string]string{"42": "42", "PROJ-42": "PROJ-42", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "$(x)": "'$(x)'"} {
		assert.Equal(t, want, QuoteArg(in))
	}
}

func TestScopeText(t *testing.T) {
	t.Parallel()
	skipped := []checkpoint.Skipped{{Path: "a"}}
	for want, s := range map[string]checkpoint.Snapshot{
		"staged, modified, untracked files":                                       {Scope: checkpoint.ScopeWhole},
		"staged, modified, untracked files; some were left out":                   {Scope: checkpoint.ScopeWhole, Skipped: skipped},
		"staged files; other files as they were saved before":                     {Scope: checkpoint.ScopeStaged},
		"the files that were read in time; other files as they were saved before": {Scope: checkpoint.ScopeCut, Skipped: skipped},
	} {
		assert.Equal(t, want, ScopeText(s))
	}
}

// A real shell decodes the quoted text, both as an argument and in an assignment.
func FuzzShell(f *testing.F) {
	for _, s := range []string{"", "a b", "it's", "''\\'", "$(x) `y` \"z\" \\", "~root", "-n", "!!", "a\nb\n", "\xff\xfe\u202e", "*?[a]{b,c}", "a;b|c&d", "#x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := strings.ReplaceAll(s, "\x00", "")
		if len(want) > 30_000 {
			t.Skip("longer than an argument")
		}
		word := Shell(s)
		for _, script := range []string{`printf %s ` + word, `V=` + word + `; printf %s "$V"`} {
			cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
			cmd.Env = []string{"LC_ALL=C", "PATH=/usr/bin:/bin"}
			out, err := cmd.Output()
			require.NoError(t, err)
			require.Equal(t, want, string(out))
		}
	})
}
