package odb

import (
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A journal orders only its own file system. Files on other file systems are synced
// individually, beside the objects and in alternates.
func TestFlushSyncsFilesOnOtherFileSystems(t *testing.T) {
	t.Parallel()
	elsewhere := memory(t)
	lender := open(t, gittest.New(t), func(c *Config) { c.Dir = elsewhere })
	lent := lender.NewBatch()
	h := lent.Add(plumbing.BlobObject, []byte("lent"))
	require.NoError(t, lent.Flush())
	beside, err := os.Create(filepath.Join(elsewhere, "beside"))
	require.NoError(t, err)
	defer beside.Close()

	s, steps := traced(t, false)
	s.cfg.Alternates = []string{elsewhere}
	s.journal.Do(func() { s.inOrder = true })
	assert.False(t, s.InOrder(beside))
	b := s.NewBatch()
	b.Keep(h)
	b.Add(plumbing.BlobObject, []byte("new"))
	settle, err := b.Install(beside)
	require.NoError(t, err)
	rel, err := filepath.Rel(s.cfg.Dir, elsewhere)
	require.NoError(t, err)
	assert.Contains(t, *steps, "sync "+filepath.Join(rel, looseName(h)))
	assert.Contains(t, *steps, "sync "+filepath.Join(rel, "beside"))
	require.NoError(t, settle())
	assert.Contains(t, *steps, "journal "+looseName(b.objects[0].hash)[:2])
}

// memory returns a new directory on a separate file system, /dev/shm.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "objects-")
	if err != nil {
		t.Skip("this test needs /dev/shm: ", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var here, there unix.Stat_t
	require.NoError(t, unix.Stat(t.TempDir(), &here))
	require.NoError(t, unix.Stat(dir, &there))
	if here.Dev == there.Dev {
		t.Skip("all temporary files are there already")
	}
	return dir
}
