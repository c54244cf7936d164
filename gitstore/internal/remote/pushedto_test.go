package remote

import (
	"strings"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
)

func TestDestination(t *testing.T) {
	t.Parallel()
	const url, instead = "https://example.com/us/a", ".pushInsteadOf="
	for name, c := range map[string]struct {
		config []string
		want   string
		same   bool
	}{
		"plain":               {nil, url, true},
		"a fork":              {[]string{"remote.origin.pushurl=/fork"}, "/fork", false},
		"two, one the same":   {[]string{"remote.origin.pushurl=/fork", "remote.origin.pushurl=" + url}, url, true},
		"instead":             {[]string{"url.https://example.com/me/" + instead + "https://example.com/us/"}, "https://example.com/me/a", false},
		"the longest":         {[]string{"url./b/" + instead + "https://example.com/us/", "url./c/" + instead + "https://example.com/"}, "/b/a", false},
		"of something else":   {[]string{"url./b/" + instead + "https://example.org/"}, url, true},
		"another way":         {[]string{"url.git@example.com:" + instead + "https://example.com/"}, "git@example.com:us/a", true},
		"another way, a port": {[]string{"url.ssh://git@Example.com:2222/" + instead + "https://example.com/"}, "ssh://git@Example.com:2222/us/a", true},
		"another port":        {[]string{"url.https://example.com:8443/" + instead + "https://example.com/"}, "https://example.com:8443/us/a", false},
		"another user":        {[]string{"url.https://me@example.com/" + instead + "https://example.com/"}, "https://me@example.com/us/a", true},
		"a pushurl wins":      {[]string{"url./b/" + instead + "https://example.com/us/", "remote.origin.pushurl=" + url}, url, true},
		"the way both go":     {[]string{"url./hub/" + instead + "https://example.com/", "url./hub/.insteadOf=https://example.com/"}, "/hub/us/a", true},
	} {
		s := gittest.New(t)
		for _, setting := range append(c.config, "remote.origin.url="+url) {
			key, value, _ := strings.Cut(setting, "=")
			s.Git("config", "--add", key, value)
		}
		d := DestinationOf(t.Context(), opened(t, s, "fetch", "origin").repo, "origin")
		assert.Equal(t, c.want, d.URL, name)
		assert.Equal(t, c.same, d.Same, name)
	}
	assert.True(t, isSame("ssh://git@[::1]:2222/a", "https://[::1]/a"))
	assert.False(t, isSame("ssh://git@[::2]:2222/a", "https://[::1]/a"))
	s := gittest.New(t)
	s.Git("config", "url./b/.pushInsteadOf", "/hub/")
	l := opened(t, s, "push", "/hub/a")
	assert.Equal(t, "/b/a", DestinationOf(t.Context(), l.repo, "/hub/a").URL, "a remote without a name")
	assert.Equal(t, oneURL, l.from)
}

// TestPushRetriesDependOnTheReason checks that only a server's rule forbids another try.
func TestPushRetriesDependOnTheReason(t *testing.T) {
	t.Parallel()
	for reason, isRule := range map[string]bool{
		"pre-receive hook declined":                                                         true,
		"protected branch hook declined":                                                    true,
		"push declined due to repository rule":                                              true,
		"deny updating a hidden ref":                                                        true,
		"prohibited by Gerrit: not permitted: update":                                       true,
		"TF401027: You need the Git 'GenericContribute' permission to perform this action.": true,
		"unpacker error":                                                                    true,
		"shallow update not allowed":                                                        true,
		"failed to update ref":                                                              false,
		"failed to lock":                                                                    false,
		"lock error: LOCK_FAILURE":                                                          false,
		"reference already exists":                                                          false,
		"TF401028: The reference has already been updated":                                  false,
		"": false,
		"cannot lock ref 'refs/checkpoints/42': Unable to create 'x.lock': File exists.": false,
	} {
		assert.Equal(t, isRule, refusal{reason: reason}.isRule(), reason)
	}
}

// TestNoSecretInArguments checks that the arguments of git contain no password, and that pushes go to
// one of several push URLs.
func TestNoSecretInArguments(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"https://ann:secret@example.com/x", "https://token@example.com/x", "ssh://git@example.com/x", "../hub.git"} {
		for _, others := range []int{0, 1} {
			s := gittest.New(t)
			s.Git("config", "remote.origin.url", url)
			s.Git("config", "remote.origin.receivepack", "receive")
			if others > 0 {
				s.Git("config", "remote.origin.pushurl", url)
				s.Git("config", "--add", "remote.origin.pushurl", "../b.git")
				s.Git("config", "--add", "remote.origin.pushurl", "../b.git")
			}
			l := opened(t, s, "push", "origin")
			assert.Len(t, DestinationOf(t.Context(), l.repo, "origin").Others, others, url)
			assert.Equal(t, map[int]string{0: "origin", 1: oneURL}[others], l.from, url)
			assert.Equal(t, s.Git("remote", "get-url", "origin"), gitLine(t, l, "ls-remote", "--get-url", l.from))
			assert.Equal(t, "receive", gitLine(t, l, "config", "remote."+l.from+".receivepack"))
		}
	}
}

func gitLine(t *testing.T, l *Conn, args ...string) string {
	t.Helper()
	line, err := l.git.Line(t.Context(), args...)
	assert.NoError(t, err)
	return line
}
