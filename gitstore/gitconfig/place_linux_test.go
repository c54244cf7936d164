package gitconfig

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDistributed shows that the system's file is guessed for a git of the
// system alone.
func TestDistributed(t *testing.T) {
	dir := t.TempDir()
	script := dir + "/git"
	write(t, script, "#!/bin/sh\nexec /opt/git/bin/git \"$@\"\n")
	assert.False(t, isProgram(script))
	self, err := os.Executable()
	require.NoError(t, err)
	assert.True(t, isProgram(self))
	assert.False(t, distributed(self))
	assert.False(t, distributed(dir+"/nothing"))
	if info, err := os.Lstat("/usr/bin/git"); err == nil && info.Mode().IsRegular() {
		assert.True(t, distributed("/usr/bin/git"))
		require.NoError(t, os.Symlink("/usr/bin/git", dir+"/link"))
		assert.True(t, distributed(dir+"/link"))
	}
}

// TestOneDevice shows that a mount between a folder and the root is seen.
func TestOneDevice(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(dir, "a", "b")
	require.NoError(t, os.MkdirAll(below, 0o777))
	assert.True(t, oneDevice(below, dir))
	assert.True(t, oneDevice(dir, dir))
	assert.False(t, oneDevice(dir, below), "not above")
	assert.False(t, oneDevice("/proc/self", "/"))
}
