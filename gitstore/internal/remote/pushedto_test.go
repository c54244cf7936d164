package remote

import (
	"strings"
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

// TestPushRetriesDependOnTheReason checks the number of tries: one for a server's rule,
// several for a lock, few for other reasons.
func TestPushRetriesDependOnTheReason(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]int{
		"pre-receive hook declined":                                                         1,
		"protected branch hook declined":                                                    1,
		"push declined due to repository rule":                                              1,
		"deny updating a hidden ref":                                                        1,
		"prohibited by Gerrit: not permitted: update":                                       1,
		"TF401027: You need the Git 'GenericContribute' permission to perform this action.": 1,
		"unpacker error":                                                                    1,
		"failed to update ref":                                                              6,
		"failed to lock":                                                                    6,
		"lock error: LOCK_FAILURE":                                                          6,
		"reference already exists":                                                          3,
		"TF401028: The reference has already been updated":                                  3,
		"": 3,
		"cannot lock ref 'refs/checkpoints/42': Unable to create 'x.lock': File exists.": 6,
	} {
		assert.Equal(t, want, refusal{reason: reason}.tries(), reason)
	}
}

// TestNoSecretInArguments checks that the arguments of git push contain no password, and that
// other remotes are reduced to the push URL that is read.
func TestNoSecretInArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url    string
		name   string
		others int
	}{
		{"https://ann:secret@example.com/x", "origin", 0},
		{"https://token@example.com/x", "origin", 0},
		{"ssh://git:secret@example.com/x", "origin", 0},
		{"ssh://git@example.com/x", oneURL, 1},
		{"git@example.com:x", oneURL, 1},
		{"../hub.git", oneURL, 1},
	} {
		config := []git.ConfigEntry{
			{Key: "remote.origin.url", Value: c.url},
			{Key: "remote.origin.pushurl", Value: c.url},
			{Key: "remote.origin.pushurl", Value: "../b.git"},
			{Key: "remote.origin.pushurl", Value: "../b.git"},
		}
		flags, name := (&Conn{Remote: "origin", here: Here{Config: config}}).destination()
		assert.Equal(t, c.name, name, c.url)
		assert.NotContains(t, strings.Join(flags, " "), "secret")
		assert.NotContains(t, strings.Join(flags, " "), "token")
		assert.Len(t, OtherPushURLs(config, "origin"), c.others, c.url)
	}
	other := []git.ConfigEntry{
		{Key: "remote.origin.url", Value: "../hub.git"},
		{Key: "remote.origin.url", Value: "https://ann:secret@example.com/x"},
	}
	_, name := (&Conn{Remote: "origin", here: Here{Config: other}}).destination()
	assert.Equal(t, oneURL, name)
	assert.Len(t, OtherPushURLs(other, "origin"), 1)
	one := []git.ConfigEntry{{Key: "remote.origin.url", Value: "https://ann:secret@example.com/x"}, {Key: "remote.origin.mirror", Value: "true"}}
	flags, name := (&Conn{Remote: "origin", here: Here{Config: one}}).destination()
	assert.Equal(t, "origin", name)
	assert.Equal(t, []string{"-c", "remote.origin.mirror=false"}, flags)
}
