package refs

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestMayBeMatchesCheckRefFormat compares MayBe with git check-ref-format.
func TestMayBeMatchesCheckRefFormat(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"main", "a/b", "a.b", "-x", "a-b_c+d", "\u00e9", "@", "a@b", "HEAD", "a.lockb", "a{b", "%2e%2e", "'", "$(x)",
		"../../config", "a/../b", "..", ".", "a..b", ".a", "a/.b", "a.", "a/b.lock", "x.lock/y", "", "/a", "a/", "a//b",
		"a b", "a\tb", "a\nb", "a\x7fb", "a~b", "a^b", "a:b", "a?b", "a*b", "a[b", "a\\b", "@{-1}", "a@{b", "\x1b[31m",
	} {
		name = "refs/heads/" + name
		err := exec.Command("git", "check-ref-format", name).Run()
		assert.Equal(t, err == nil, MayBe(name), "%q", name)
	}
}
