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
