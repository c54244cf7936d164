package config

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
)

// setting returns the setting with this key from All.
func setting(s *Settings, key string) view.Setting {
	all := s.All()
	return all[slices.IndexFunc(all, func(v view.Setting) bool { return v.Key == key })]
}

// Git accepts every documented name, and Load accepts git's listing.
func TestGitAcceptsEveryDocumentedName(t *testing.T) {
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "GIT_") {
			t.Setenv(name, "") // restores the variable after the test
			require.NoError(t, os.Unsetenv(name))
		}
	}
	dir := t.TempDir()
	git := gitstore.Git{Dir: dir, Env: []string{"GIT_CONFIG_NOSYSTEM=1", "HOME=" + dir, "XDG_CONFIG_HOME=" + dir}}
	_, err := git.Output(t.Context(), "init", "-q")
	require.NoError(t, err)
	for _, k := range Keys() {
		_, err := git.Output(t.Context(), "config", GitName(k.Name), k.Default)
		require.NoError(t, err, k.Name)
	}
	require.NoError(t, exec.CommandContext(t.Context(), "sh", "-c", `printf '[checkpoint]\n\tenabled\n' >>"$1"/.git/config`, "sh", dir).Run())
	entries, err := git.Config(t.Context())
	require.NoError(t, err)
	s, err := Load(Sources{Root: dir, Git: entries})
	require.NoError(t, err)
	for i, v := range s.All() {
		assert.Equal(t, view.Setting{Key: Keys()[i].Name, Value: Keys()[i].Default, Origin: "git config (local) .git/config"}, v)
	}
	assert.True(t, s.Bool("enabled"), "a name without a value is true")
}

func TestUnknownNamesPanic(t *testing.T) {
	s, err := Load(Sources{})
	require.NoError(t, err)
	assert.Panics(t, func() { s.Bool("enable") })
	assert.Panics(t, func() { s.Int("enabled") })
	assert.Panics(t, func() { s.Origin("enable") })
}
