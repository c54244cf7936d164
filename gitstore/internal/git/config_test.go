package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
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

// TestOwnIndexIsPlain checks that git writes an index of this program to one file with a checksum and
// starts no hook, even if the settings of the repository say otherwise.
func TestOwnIndexIsPlain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, g := repo(t)
	r.Write("f", "text\r\n")
	r.Git("add", "f")
	hook := "touch " + filepath.Join(r.Dir, "ran")
	for _, set := range [][2]string{
		{"core.splitIndex", "true"},
		{"index.skipHash", "true"},
		{"core.fsmonitor", hook},
		{"core.autocrlf", "input"},
		{"core.safecrlf", "true"},
		{"hook.a.command", hook},
		{"hook.a.event", "post-index-change"},
	} {
		r.Git("config", set[0], set[1])
	}
	r.Write(".git/hooks/post-index-change", "#!/bin/sh\n"+hook)
	require.NoError(t, os.Chmod(r.GitPath("hooks/post-index-change"), 0o755))
	config, err := g.Config(ctx)
	require.NoError(t, err)
	file := r.GitPath("own")
	own := g.OnIndex(file, config...)
	for _, args := range [][]string{{"update-index", "--add", "f"}, {"write-tree"}} {
		_, err := own.Output(ctx, args...)
		require.NoError(t, err)
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotEqual(t, strings.Repeat("\x00", 20), string(data[len(data)-20:]))
	shared, err := filepath.Glob(r.GitPath("sharedindex.*"))
	require.NoError(t, err)
	assert.Empty(t, shared)
	assert.NoFileExists(t, r.Path("ran"))

	_, err = own.Output(ctx, "add", "none")
	failed := err.(*CommandError)
	assert.Equal(t, []string{"add", "none"}, failed.Args, "the settings are no part of the message")
}
