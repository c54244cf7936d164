package ident

import (
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/internal/git"

	"github.com/stretchr/testify/assert"
)

// The environment takes precedence over role settings, and role settings over user.*. If
// all are missing, Finder runs git once.
func TestFinderPrecedence(t *testing.T) {
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "")
	}
	f := Finder{Config: []git.ConfigEntry{
		{Key: "user.name", Value: " ,Ann <x> \"Author\", "},
		{Key: "user.email", Value: "<ann@x>"},
		{Key: "committer.name", Value: "Connie"},
	}}
	assert.Equal(t, Person{"Ann x \"Author", "ann@x"}, f.Author())
	assert.Equal(t, Person{"Connie", "ann@x"}, f.Committer())
	t.Setenv("GIT_AUTHOR_EMAIL", "a\x01@y")
	assert.Equal(t, Person{"Ann x \"Author", "a@y"}, f.Author())
	assert.Nil(t, f.guessed, "git was not asked")
	f.Config = append(f.Config, git.ConfigEntry{Key: "committer.email", Value: strings.Repeat("\u00e9", 5<<20)})
	assert.Equal(t, strings.Repeat("\u00e9", 512), f.Committer().Email)
	f.Config = f.Config[:len(f.Config)-1]
	assert.Equal(t, "Connie <ann@x> 1700000000 +0000", f.Committer().Signature(time.Unix(1700000000, 0)))
}
