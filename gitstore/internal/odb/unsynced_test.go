package odb

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// Flush syncs or writes all noted files before it names objects, with both kinds of
// journal.
func TestFlushSyncsNotedFilesFirst(t *testing.T) {
	t.Parallel()
	for _, each := range []bool{true, false} {
		r := gittest.New(t)
		s := open(t, r, func(c *Config) { c.SyncEach = each })
		blob := strings.TrimSpace(string(r.Pipe([]byte("content"), "hash-object", "-w", "--stdin")))
		file := s.LooseFile(plumbing.NewHash(blob))
		require.FileExists(t, file)
		var steps []string
		var lock sync.Mutex // files are synced in parallel
		s.trace = func(step, path string) {
			lock.Lock()
			defer lock.Unlock()
			steps = append(steps, step+" "+path)
		}
		b := s.NewBatch()
		b.Add(plumbing.BlobObject, []byte("new"))
		b.Sync(file, filepath.Dir(file), filepath.Join(r.Dir, "not there"))
		require.NoError(t, b.Flush())
		at := func(want ...string) int {
			for n, step := range steps {
				for _, w := range want {
					if step == w {
						return n
					}
				}
			}
			t.Fatalf("%q is not in %q", want, steps)
			return 0
		}
		name := at("name " + s.loosePath(Name(plumbing.BlobObject, []byte("new"))))
		require.Less(t, at("sync "+file, "written "+file), name)
	}
}

// A batch without objects syncs noted files and their directories, because no rename
// follows.
func TestFlushWithoutObjectsSyncsNotedFiles(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	s := open(t, r)
	path := r.GitPath("packed-refs")
	require.NoError(t, os.WriteFile(path, []byte("text"), 0o666))
	var steps []string
	var lock sync.Mutex
	s.trace = func(step, path string) {
		lock.Lock()
		defer lock.Unlock()
		steps = append(steps, step+" "+path)
	}
	b := s.NewBatch()
	b.Sync(path)
	require.NoError(t, b.Flush())
	require.Contains(t, steps, "sync "+path)
	require.Contains(t, steps, "sync "+filepath.Dir(path))
}

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
