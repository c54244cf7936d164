package odb

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// If a disk fills during a flush, the error names the object and its file, and no incomplete
// files remain.
func TestFlushOnFullDiskLeavesNoIncompleteFiles(t *testing.T) {
	for name, flush := range map[string]func(*Batch) error{
		"loose": (*Batch).flush,
		"pack":  func(b *Batch) error { return b.FlushPack(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			dir := smallDisk(t, "size=256k")
			s := open(t, r, func(c *Config) { c.Dir = dir })
			b := s.NewBatch()
			small := b.Add(plumbing.BlobObject, []byte("fits"))
			for _, c := range contents() {
				b.Add(plumbing.BlobObject, c)
			}
			err := flush(b)
			require.Error(t, err)
			if name == "loose" {
				require.ErrorIs(t, err, unix.ENOSPC)
				require.Regexp(t, `^write object [0-9a-f]{40,64}: `+dir+`/../[0-9a-f]{38,62}: no space left on device$`, err.Error())
			}
			require.NotEmpty(t, b.Missing())
			var files []string
			require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
				if !d.IsDir() {
					files = append(files, path)
				}
				return err
			}))
			for _, f := range files { // git leaves pack/tmp_pack_* to gc
				if name == "loose" {
					_, _, err := readLoose(f)
					require.NoError(t, err)
				}
			}
			one := s.NewBatch()
			require.Equal(t, small, one.Add(plumbing.BlobObject, []byte("fits")))
			for _, f := range files {
				require.NoError(t, os.Remove(f))
			}
			require.NoError(t, one.flush(), "there is room again")
			require.Empty(t, one.Missing())
		})
	}
}

// It does not run beside other tests: a process that they start can hold a file open for
// writing until its exec, and then the disk cannot become read-only.
func TestFlushOnReadOnlyDiskFails(t *testing.T) {
	dir := smallDisk(t, "size=256k")
	r := gittest.New(t)
	s := open(t, r, func(c *Config) { c.Dir = dir })
	old := s.NewBatch()
	old.Add(plumbing.BlobObject, []byte("old"))
	require.NoError(t, old.flush())
	require.NoError(t, unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	b := s.NewBatch()
	h := b.Add(plumbing.BlobObject, []byte("new"))
	err := b.flush()
	require.ErrorIs(t, err, unix.EROFS)
	require.EqualError(t, err, "write object "+h.String()+": "+s.loosePath(h)+": read-only file system")
	require.ErrorIs(t, old.flush(), unix.EROFS, "an object that cannot be freshened may not last")
}

// smallDisk mounts a small file system. Mounting requires root, which CI has.
func smallDisk(t *testing.T, options string) string {
	t.Helper()
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("mounting a small disk needs root")
		}
		t.Skip("mounting a small disk needs root")
	}
	dir := t.TempDir()
	require.NoError(t, unix.Mount("tmpfs", dir, "tmpfs", 0, options))
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return dir
}
