package gitconfig

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDistributedAcceptsOnlySystemGit checks that only a git of the distribution uses the default system
// file.
func TestDistributedAcceptsOnlySystemGit(t *testing.T) {
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

// TestOnDeviceDetectsMount checks that onDevice detects a mount between a directory and the root.
func TestOnDeviceDetectsMount(t *testing.T) {
	dir := t.TempDir()
	device, _, ok := stat(dir)
	require.True(t, ok)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a"), 0o777))
	assert.True(t, onDevice(device, nil))
	assert.True(t, onDevice(device, []string{filepath.Join(dir, "a")}))
	assert.False(t, onDevice(device, []string{filepath.Join(dir, "a"), filepath.Join(dir, "gone")}))
	assert.False(t, onDevice(device, []string{filepath.Join(dir, "a"), "/proc/self"}))
}

// TestPlaceBelowMountIsUntrusted checks that git decides below a mount point.
func TestPlaceBelowMountIsUntrusted(t *testing.T) {
	_, place, _ := world(t)
	assert.True(t, place.trusted())
	place.Passed = []string{"/proc/self"}
	assert.False(t, place.trusted())
}
