package git

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Config returns unusual settings exactly as git config prints them.
func TestConfig(t *testing.T) {
	t.Parallel()
	r, g := repo(t)
	r.Write("more", "[User]\n\tNAME = \" spaced \"\n[checkpoint \"Sub.Section=x\"]\n\tkey = \"two\\nlines\"\n\tempty =\n\tbare\n\tequals = a=b\n")
	r.Git("config", "include.path", "../more")
	r.Git("config", "--add", "checkpoint.list", "one")
	r.Git("config", "--add", "checkpoint.list", "two")
	g = g.With("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=checkpoint.list", "GIT_CONFIG_VALUE_0=three")
	entries, err := g.Config(context.Background())
	require.NoError(t, err)
	for key, want := range map[string]string{
		"user.name": " spaced ", "checkpoint.Sub.Section=x.key": "two\nlines", "checkpoint.Sub.Section=x.empty": "",
		"checkpoint.Sub.Section=x.bare": "true", "checkpoint.Sub.Section=x.equals": "a=b", "checkpoint.list": "three",
	} {
		got, ok := Last(entries, key)
		assert.True(t, ok, key)
		assert.Equal(t, want, got, key)
	}
	_, ok := Last(entries, "user.NAME")
	assert.False(t, ok)
	assert.Equal(t, "command", entries[len(entries)-1].Scope)
	for _, e := range entries {
		assert.NotEmpty(t, e.Origin)
	}
}

func TestConfigErrorContainsLine(t *testing.T) {
	t.Parallel()
	r, g := repo(t)
	require.NoError(t, os.WriteFile(r.GitPath("config"), []byte("[core\n"), 0o666))
	_, err := g.Config(context.Background())
	require.ErrorContains(t, err, "read git's configuration")
	require.ErrorContains(t, err, "line 1")
}

func TestBool(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"true": true, "YES": true, "On": true, "1": true, "-1": true, "0x10": true, "": false, "no": false, "0": false, "00": false, "maybe": false, "2k": true} {
		assert.Equal(t, want, Bool(value), "%q", value)
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("local\x00file:.git/config\x00a.b\nc\x00"))
	f.Add([]byte("local\x00file\x00a.b\x00"))
	f.Add([]byte("\x00\x00\x00"))
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseConfig(data)
		if err == nil && len(data) > 0 {
			assert.NotEmpty(t, entries)
		}
	})
}
