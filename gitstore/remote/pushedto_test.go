package remote

import (
	"testing"

	"git-checkpoint/gitstore/gitcmd"

	"github.com/stretchr/testify/assert"
)

func TestPushedTo(t *testing.T) {
	url := gitcmd.ConfigEntry{Key: "remote.origin.url", Value: "https://example.com/us/a"}
	instead := func(base, of string) gitcmd.ConfigEntry {
		return gitcmd.ConfigEntry{Key: "url." + base + ".pushinsteadof", Value: of}
	}
	for name, c := range map[string]struct {
		config []gitcmd.ConfigEntry
		want   string
	}{
		"plain":                {nil, "origin"},
		"a fork":               {[]gitcmd.ConfigEntry{{Key: "remote.origin.pushurl", Value: "/fork"}}, "/fork"},
		"two, one the same":    {[]gitcmd.ConfigEntry{{Key: "remote.origin.pushurl", Value: "/fork"}, {Key: "remote.origin.pushurl", Value: url.Value}}, "origin"},
		"no option":            {[]gitcmd.ConfigEntry{{Key: "remote.origin.pushurl", Value: "-x"}}, "origin"},
		"instead":              {[]gitcmd.ConfigEntry{instead("https://example.com/me/", "https://example.com/us/")}, "https://example.com/me/a"},
		"the longest":          {[]gitcmd.ConfigEntry{instead("/b/", "https://example.com/us/"), instead("/c/", "https://example.com/")}, "/b/a"},
		"of something else":    {[]gitcmd.ConfigEntry{instead("/b/", "https://example.org/")}, "origin"},
		"another way":          {[]gitcmd.ConfigEntry{instead("git@example.com:", "https://example.com/")}, "origin"},
		"another way, a port":  {[]gitcmd.ConfigEntry{instead("ssh://git@Example.com:2222/", "https://example.com/")}, "origin"},
		"another port":         {[]gitcmd.ConfigEntry{instead("https://example.com:8443/", "https://example.com/")}, "https://example.com:8443/us/a"},
		"another user":         {[]gitcmd.ConfigEntry{instead("https://me@example.com/", "https://example.com/")}, "origin"},
		"a pushurl wins":       {[]gitcmd.ConfigEntry{instead("/b/", "https://example.com/us/"), {Key: "remote.origin.pushurl", Value: url.Value}}, "origin"},
		"the way both go":      {[]gitcmd.ConfigEntry{instead("/hub/", "https://example.com/"), {Key: "url./hub/.insteadof", Value: "https://example.com/"}}, "origin"},
		"instead of an option": {[]gitcmd.ConfigEntry{instead("-x", "https://")}, "origin"},
	} {
		assert.Equal(t, c.want, PushedTo(append(c.config, url), "origin"), name)
	}
	six := []gitcmd.ConfigEntry{instead("ssh://git@[::2]:2222/", "https://[::1]/"), {Key: "remote.six.url", Value: "https://[::1]/a"}}
	assert.Equal(t, "ssh://git@[::2]:2222/a", PushedTo(six, "six"))
	six[0] = instead("ssh://git@[::1]:2222/", "https://[::1]/")
	assert.Equal(t, "six", PushedTo(six, "six"))
	assert.Equal(t, "/b/a", PushedTo([]gitcmd.ConfigEntry{instead("/b/", "/hub/")}, "/hub/a"), "a remote without a name")
}
