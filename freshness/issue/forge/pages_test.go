package forge

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPagesOfEachForge(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("a1", 20)
	for remote, want := range map[string][]string{
		"git@github.com:acme/loader.git":                  {"https://github.com/acme/loader/issues/42", "https://github.com/acme/loader/commit/" + id, "https://github.com/acme/loader/tree/fix/a%23b"},
		"ssh://git@ssh.github.com:443/acme/loader":        {"https://github.com/acme/loader/issues/42", "https://github.com/acme/loader/commit/" + id, "https://github.com/acme/loader/tree/fix/a%23b"},
		"https://me:secret@gitlab.com/a/b/c.git":          {"https://gitlab.com/a/b/c/-/issues/42", "https://gitlab.com/a/b/c/-/commit/" + id, "https://gitlab.com/a/b/c/-/tree/fix/a%23b"},
		"https://codeberg.org/acme/loader?token=secret#x": {"https://codeberg.org/acme/loader/issues/42", "https://codeberg.org/acme/loader/commit/" + id, "https://codeberg.org/acme/loader/src/branch/fix/a%23b"},
	} {
		r, err := ParseRemote(remote)
		require.NoError(t, err, remote)
		s, err := Choose("", r, nil)
		require.NoError(t, err, remote)
		assert.Equal(t, want, []string{s.IssuePage("42"), s.CommitPage(id), s.BranchPage("fix/a#b")}, remote)
	}
}

// Addresses have neither credentials nor another scheme than https, and hostile names stay
// in their place.
func TestPagesOfHostileSites(t *testing.T) {
	t.Parallel()
	for _, web := range []string{"http://box.lan", "javascript://x", "https://me:secret@box.lan", "data:text/html,x", "", "//box.lan"} {
		s := Site{Kind: GitHub, Web: web, Project: "a/b"}
		assert.Empty(t, s.Home()+s.IssuePage("1")+s.CommitPage(strings.Repeat("a", 40))+s.BranchPage("x"), web)
	}
	s := Site{Kind: GitHub, Web: "https://box.lan", Project: `a"b/<c>`}
	assert.Equal(t, "https://box.lan/a%22b/%3Cc%3E/tree/x%22%20onclick=%22y/%3Cscript%3E", s.BranchPage(`x" onclick="y/<script>`))
	assert.Empty(t, s.IssuePage("../x"))
	assert.Empty(t, s.IssuePage(""))
	assert.Empty(t, s.CommitPage("../x"))
	assert.Empty(t, s.BranchPage(""))
}
