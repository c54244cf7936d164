package remote

import (
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git"

	"github.com/stretchr/testify/assert"
)

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
