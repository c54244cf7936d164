package gitstore

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git/ident"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
)

// Author and committer equal git's own choice.
func TestIdentMatchesGitVar(t *testing.T) {
	gittest.SkipShort(t)
	for name, c := range map[string]struct {
		config [][2]string
		env    [][2]string
	}{
		"user":            {},
		"both roles":      {config: [][2]string{{"author.name", "Arthur"}, {"author.email", "arthur@x"}, {"committer.name", "Connie"}}},
		"environment":     {env: [][2]string{{"GIT_AUTHOR_NAME", "Arthur"}, {"GIT_COMMITTER_EMAIL", "c@x"}}},
		"crud":            {config: [][2]string{{"user.name", " ,Ann <x> \"Author\", "}, {"user.email", "<ann@x>"}}},
		"one role, guess": {config: [][2]string{{"user.name", ""}}, env: [][2]string{{"GIT_AUTHOR_NAME", "Arthur"}, {"EMAIL", "e@x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(r *gittest.Repo) {
				for _, kv := range c.config {
					r.Git("config", kv[0], kv[1])
				}
			})
			for _, kv := range c.env {
				t.Setenv(kv[0], kv[1])
				w.Setenv(kv[0], kv[1])
			}
			commit := w.save(w.request(checkpoint.Manual)).Commit.String()
			want := w.identOrFallback()
			assert.Equal(t, want, w.Git("log", "-1", "--format=%an <%ae>%n%cn <%ce>", commit))
		})
	}
}

func (w *world) identOrFallback() string {
	text := ""
	for _, role := range []string{"AUTHOR", "COMMITTER"} {
		out, err := w.Run(nil, "var", "GIT_"+role+"_IDENT")
		line := ident.Fallback.Name + " <" + gittest.Email + "> x y"
		if err == nil {
			line = string(out)
		}
		for i := range line {
			if line[i] == '>' {
				text += line[:i+1] + "\n"
				break
			}
		}
	}
	return text[:len(text)-1]
}

// Saves succeed on machines without any git identity.
func TestSaveWithoutAnIdentity(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(r *gittest.Repo) {
		r.Git("config", "--unset", "user.name")
		r.Git("config", "--unset", "user.email")
		r.Git("config", "user.useConfigOnly", "true")
	})
	commit := w.save(w.request(checkpoint.Manual)).Commit.String()
	assert.Equal(t, "git-checkpoint <git-checkpoint@localhost>", w.Git("log", "-1", "--format=%an <%ae>", commit))
	assert.Contains(t, w.Git("log", "-g", "-1", "--format=%gn", "refs/checkpoints/42"), "git-checkpoint")
	w.sound()
}
