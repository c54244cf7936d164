package repo

import (
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/internal/git"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Git reads each quoted value unchanged.
func TestQuotedValueIsReadByGit(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config")
	for _, value := range []string{
		"", "/plain", " spaces ", "a\"b", `a\b\t`, "line\nbreak", "tab\t", "\b", "# ; =", "caf\xe9", "zero\u200bwidth", "bell\a\x1f\x7f", "a\rb",
	} {
		require.NoError(t, os.WriteFile(file, []byte("[a]\n\tb = "+quoted(value)+"\n"), 0o666))
		got, err := git.Git{}.Output(t.Context(), "config", "--null", "--file", file, "a.b")
		require.NoError(t, err)
		assert.Equal(t, value+"\x00", string(got))
	}
}
