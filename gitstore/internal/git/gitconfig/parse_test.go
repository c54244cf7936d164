package gitconfig

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// texts contains configuration files. taken is true if parse accepts the file.
var texts = []struct {
	text  string
	taken bool
}{
	{"", true},
	{"\n\n# nothing\n; at all", true},
	{"[a]\nb=c\n", true},
	{"[A]\nB=C\n", true},
	{"[a \"B c\"]\n\td-E = f\n", true},
	{"[a.B]\n\tc = d\n", true},
	{"[a   \"b\"]c=d\n", true},
	{"[a]b=c\n[d]e", true},
	{"[a] b\n", true},
	{"[a]\nb = \n", true},
	{"[a]\nb = c  d   # e\n", true},
	{"[a]\nb = c ; d\n\te = f\n", true},
	{"[a]\nb = \" c # d \" e\n", true},
	{"[a]\nb = \"\"\n", true},
	{"[a]\nb = \"\" \t\n", true},
	{"[a]\nb =\t\tc\t\n", true},
	{"[a]\nb = c\t# d\n", true},
	{"[a]\nb = c\\nd\\te\\\\f\\\"g\\b\n", true},
	{"[a \"b\\\"c\\\\d\\e\"]\nf=g\n", true},
	{"[a \"\"]\nb=c\n", true},
	{"\xef\xbb\xbf[a]\nb=c\n", true},
	{"[a]\r\nb = c\r\nd\r\n", true},
	{"[a]\nb = \xff\xfe\n", true},
	{"[a]\nb = c = d\n", true},
	{"[a]\nb = c#d\n", true},
	{"[a]\nb0-c=1\n", true},
	{"[includes]\npath=x\n", false},
	{"[include]\npath=x\n", false},
	{"[INCLUDE]\npath=x\n", false},
	{"[includeIf \"gitdir:/\"]\npath=x\n", false},
	{"[a]\nb = c\td\n", false},
	{"[a]\nb = c\\\n d\n", false},
	{"[a]\nb = \"c\n", false},
	{"[a]\nb = \\x\n", false},
	{"[a]\n0b = c\n", false},
	{"[a]\nb_c = d\n", false},
	{"b = c\n", false},
	{"[a\nb=c\n", false},
	{"[a b]\nc=d\n", false},
	{"[a \"b\" ]\nc=d\n", false},
	{"[a \"b\nc\"]\nd=e\n", false},
	{"[a \"b\\\nc\"]\nd=e\n", false},
	{"[]\na=b\n", false},
	{"[ \"a\"]\nb=c\n", false},
	{"[a]\nb\rc\n", false},
	{"[a]\nb = c\rd\n", false},
	{"[a]\nb = c\x00d\n", false},
	{"[a]\nb c\n", false},
}

// asGit returns the settings that git reads from a file, and whether git accepts the
// file.
func asGit(t *testing.T, text []byte) ([]variable, bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "config", "--null", "--list", "--file", "-")
	cmd.Stdin = bytes.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		return nil, false
	}
	var found []variable
	for item := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		key, value, ok := strings.Cut(item, "\n")
		if !ok {
			value = "true"
		}
		if key != "" {
			found = append(found, variable{key, value})
		}
	}
	return found, true
}

// TestParseMatchesGit compares parse with git.
func TestParseMatchesGit(t *testing.T) {
	for _, tc := range texts {
		got, ok := parse([]byte(tc.text))
		require.Equal(t, tc.taken, ok, "%q", tc.text)
		if !ok {
			continue
		}
		want, ok := asGit(t, []byte(tc.text))
		require.True(t, ok, "%q", tc.text)
		assert.Equal(t, want, got, "%q", tc.text)
	}
}

// Git reads each quoted value unchanged.
func TestQuotedValueIsReadByGit(t *testing.T) {
	for _, value := range []string{
		"", "/plain", " spaces ", "a\"b", `a\b\t`, "line\nbreak", "tab\t", "\b", "# ; =", "caf\xe9", "zero\u200bwidth", "bell\a\x1f\x7f", "a\rb",
	} {
		got, ok := asGit(t, []byte("[a]\n\tb = "+Quote(value)+"\n"))
		require.True(t, ok, "%q", value)
		assert.Equal(t, []variable{{"a.b", value}}, got)
	}
}

// FuzzParse checks that git accepts each file that parse accepts, and reads the same
// settings.
func FuzzParse(f *testing.F) {
	for _, tc := range texts {
		f.Add([]byte(tc.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := parse(text)
		if !ok {
			return
		}
		want, ok := asGit(t, text)
		require.True(t, ok)
		assert.Equal(t, want, got)
	})
}
