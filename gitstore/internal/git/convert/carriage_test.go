package convert

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// If a file is staged with carriage returns, git add keeps carriage returns of the
// worktree unless attributes request their removal.
func TestStagedCarriageReturnsAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	names := []string{"staged", "mixed", "plain", "new", "binary"}
	for _, attributes := range []string{
		"", "* text=auto", "* text=auto eol=crlf", "* text", "* eol=lf", "* -text",
		"other filter=up", "* text=auto\nother filter=up", "* text\nother filter=up", "* filter=up -filter",
	} {
		for _, autocrlf := range []string{"false", "true", "input"} {
			r := newRepo(t)
			r.Git("config", "core.autocrlf", "false")
			r.Write("staged", "a\r\nb\r\n")
			r.Write("mixed", "a\r\nb\n")
			r.Write("plain", "a\nb\n")
			r.Write("binary", "a\r\nb\n\x00")
			r.Git("add", ".")
			r.Git("config", "core.autocrlf", autocrlf)
			r.Write(".gitattributes", attributes+"\n")
			for _, name := range names {
				r.Write(name, "a\r\nb\nand more\r\n")
			}
			r.Write("binary", "a\r\n\x00\r\n")
			hashes, err := newHasher(t, r).Hash(t.Context(), names)
			require.NoError(t, err)
			r.Git("add", ".")
			for i, name := range names {
				assert.Equal(t, r.Git("rev-parse", ":"+name), hashes[i].String(), "%s %q autocrlf=%s", name, attributes, autocrlf)
			}
		}
	}
}
