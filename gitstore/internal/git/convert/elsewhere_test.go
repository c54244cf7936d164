package convert

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// outside finds the system's attributes for a git with a custom prefix, also in `git
// checkpoint`, in which PATH begins with git's own commands.
func TestRulesOutsideIncludeSystemAttributes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs have another name there")
	}
	for _, dir := range []string{"bin", "libexec/git-core", "lib/git-core"} {
		prefix, common := t.TempDir(), t.TempDir()
		git := filepath.Join(prefix, dir, "git")
		require.NoError(t, os.MkdirAll(filepath.Dir(git), 0o777))
		require.NoError(t, os.WriteFile(git, []byte("#!/bin/sh\n"), 0o777))
		t.Setenv("PATH", filepath.Dir(git))
		t.Setenv("HOME", prefix)
		t.Setenv("XDG_CONFIG_HOME", "")
		require.False(t, outside(nil, common).convert, dir)
		require.NoError(t, os.Mkdir(filepath.Join(prefix, "etc"), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(prefix, "etc", "gitattributes"), []byte("* filter=up\n"), 0o666))
		assert.True(t, outside(nil, common).convert, dir)
	}
}
