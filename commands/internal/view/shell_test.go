package view

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestShellQuotesWords(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", "''"},
		{"feature/issue-42", "feature/issue-42"},
		{"CP-docs-20260214T143000Z-1f0c9a2b", "CP-docs-20260214T143000Z-1f0c9a2b"},
		{"a b", "'a b'"},
		{"it's", `'it'\''s'`},
		{"$(rm)", "'$(rm)'"},
		{"~", "'~'"},
		{"a=b", "'a=b'"},
		{"#", "'#'"},
		{"a\nb", "'a\nb'"},
		{"\u00e9", "'\u00e9'"},
		{"a\x00b", "ab"},
		{"\x00", "''"},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, Shell(tt.in))
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
