package odb

import (
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// New files and directories get the same modes as with git.
func TestFileModesMatchGitForSharedRepository(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	for _, mask := range []int{0o022, 0o077} {
		old := unix.Umask(mask)
		for _, value := range []string{"umask", "group", "2", "0640", "0660", "0600", "0666"} {
			r := gittest.New(t)
			r.Git("config", "core.sharedRepository", value)
			bits, exact, err := ParseShared(value)
			require.NoError(t, err)
			s := open(t, r, func(c *Config) { c.Shared, c.SharedExact = bits, exact })
			theirs := s.loosePath(plumbing.NewHash(r.Hash("theirs")))
			b := s.NewBatch()
			ours := s.loosePath(b.Add(plumbing.BlobObject, []byte("ours")))
			require.NoError(t, b.flush())
			require.Equal(t, modeOf(t, theirs), modeOf(t, ours), "%s with umask %#o", value, mask)
			require.Equal(t, modeOf(t, filepath.Dir(theirs)), modeOf(t, filepath.Dir(ours)), "%s with umask %#o", value, mask)
		}
		unix.Umask(old)
	}
}

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Mode()
}

func TestParseShared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []string
		bits   os.FileMode
		exact  bool
	}{
		{[]string{"", "umask", "false", "0"}, 0, false},
		{[]string{"group", "true", "1", "Yes"}, 0o660, false},
		{[]string{"all", "world", "everybody", "2"}, 0o664, false},
		{[]string{"0640", "640"}, 0o640, true},
	} {
		for _, value := range c.values {
			bits, exact, err := ParseShared(value)
			require.NoError(t, err)
			require.Equal(t, c.bits, bits, value)
			require.Equal(t, c.exact, exact, value)
		}
	}
}

func TestParseSharedRejectsInvalidValues(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"maybe", "0900", "0440", "-1", "0x1ff"} {
		_, _, err := ParseShared(value)
		require.Error(t, err, value)
	}
}
