package odb

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestChangedSince(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	require.False(t, ChangedSince(path, time.Time{}))
	require.NoError(t, os.WriteFile(path, nil, 0o666))
	require.NoError(t, os.Chtimes(path, time.Unix(0, 0), time.Unix(0, 0)))
	require.True(t, ChangedSince(path, time.Now().Add(-time.Minute)), "the time of a file can be set, that of its change can't")
	require.False(t, ChangedSince(path, time.Now().Add(time.Minute)))
	now := time.Now()
	require.WithinDuration(t, now.Add(-writtenOut), Recent(time.Time{}), time.Minute)
	require.Equal(t, now, Recent(now))
}
