package remote

import (
	"testing"

	"git-checkpoint/gitstore/internal/git"

	"github.com/stretchr/testify/assert"
)

func TestPushedTo(t *testing.T) {
	t.Parallel()
	url := git.ConfigEntry{Key: "remote.origin.url", Value: "https://example.com/us/a"}
	instead := func(base, of string) git.ConfigEntry {
		return git.ConfigEntry{Key: "url." + base + ".pushinsteadof", Value: of}
	}
	for name, c := range map[string]struct {
		config []git.ConfigEntry
		want   string
	}{
		"plain":                {nil, "origin"},
		"a fork":               {[]git.ConfigEntry{{Key: "remote.origin.pushurl", Value: "/fork"}}, "/fork"},
		"two, one the same":    {[]git.ConfigEntry{{Key: "remote.origin.pushurl", Value: "/fork"}, {Key: "remote.origin.pushurl", Value: url.Value}}, "origin"},
		"no option":            {[]git.ConfigEntry{{Key: "remote.origin.pushurl", Value: "-x"}}, "origin"},
		"instead":              {[]git.ConfigEntry{instead("https://example.com/me/", "https://example.com/us/")}, "https://example.com/me/a"},
		"the longest":          {[]git.ConfigEntry{instead("/b/", "https://example.com/us/"), instead("/c/", "https://example.com/")}, "/b/a"},
		"of something else":    {[]git.ConfigEntry{instead("/b/", "https://example.org/")}, "origin"},
		"another way":          {[]git.ConfigEntry{instead("git@example.com:", "https://example.com/")}, "origin"},
		"another way, a port":  {[]git.ConfigEntry{instead("ssh://git@Example.com:2222/", "https://example.com/")}, "origin"},
		"another port":         {[]git.ConfigEntry{instead("https://example.com:8443/", "https://example.com/")}, "https://example.com:8443/us/a"},
		"another user":         {[]git.ConfigEntry{instead("https://me@example.com/", "https://example.com/")}, "origin"},
		"a pushurl wins":       {[]git.ConfigEntry{instead("/b/", "https://example.com/us/"), {Key: "remote.origin.pushurl", Value: url.Value}}, "origin"},
		"the way both go":      {[]git.ConfigEntry{instead("/hub/", "https://example.com/"), {Key: "url./hub/.insteadof", Value: "https://example.com/"}}, "origin"},
		"instead of an option": {[]git.ConfigEntry{instead("-x", "https://")}, "origin"},
	} {
		assert.Equal(t, c.want, PushedTo(append(c.config, url), "origin"), name)
	}
	six := []git.ConfigEntry{instead("ssh://git@[::2]:2222/", "https://[::1]/"), {Key: "remote.six.url", Value: "https://[::1]/a"}}
	assert.Equal(t, "ssh://git@[::2]:2222/a", PushedTo(six, "six"))
	six[0] = instead("ssh://git@[::1]:2222/", "https://[::1]/")
	assert.Equal(t, "six", PushedTo(six, "six"))
	assert.Equal(t, "/b/a", PushedTo([]git.ConfigEntry{instead("/b/", "/hub/")}, "/hub/a"), "a remote without a name")
}
