package gitstore

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (w *world) looseFiles() int {
	w.t.Helper()
	files, err := filepath.Glob(w.GitPath("objects/[0-9a-f][0-9a-f]/*"))
	require.NoError(w.t, err)
	return len(files)
}

// TestSavesBesidePackingAndGC runs saves, git maintenance, git gc and git repack at the
// same time. Every saved checkpoint is found, and all its objects exist.
func TestSavesBesidePackingAndGC(t *testing.T) {
	t.Parallel()
	gittest.SkipShort(t)
	w := newWorld(t)
	const savers, each = 3, 12
	packLoose := []string{"maintenance", "run", "--quiet", "--task=loose-objects", "--task=incremental-repack"}
	var all, background sync.WaitGroup
	var done atomic.Bool
	saved := make([][]checkpoint.ID, savers)
	for n := range savers {
		s := w.open(w.Dir)
		all.Go(func() {
			for k := range each {
				req := w.request(checkpoint.Manual, func(r *checkpoint.Record) { r.SetNote(fmt.Sprintf("save %d of %d", k, n)) })
				req.Issue = checkpoint.Issue(fmt.Sprint(100 + n))
				result, err := s.Save(ctx, req)
				if assert.NoError(t, err) {
					saved[n] = append(saved[n], result.ID)
				}
			}
		})
	}
	background.Go(func() {
		for k := 0; !done.Load(); k++ {
			_, _ = w.Run(nil, [][]string{{"gc", "-q", "--prune=now"}, packLoose, {"repack", "-qad"}, packLoose}[k%4]...)
		}
	})
	all.Wait()
	done.Store(true)
	background.Wait()
	for n := range savers {
		l, err := w.s.List(ctx, checkpoint.Issue(fmt.Sprint(100+n)), 0)
		require.NoError(t, err)
		assert.Equal(t, saved[n], oldestFirst(l))
	}
	_, err := w.Run(nil, "fsck", "--strict", "--no-dangling", "--no-progress")
	require.NoError(t, err)
}

// TestSaveOfATurnWritesFewObjects checks the number of new objects of a save with three
// changed files, also if retention drops turns.
func TestSaveOfATurnWritesFewObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	policy := retention.Policy{checkpoint.Turn: {Keep: 20}}
	turn := func(n int) {
		for _, name := range []string{"a.txt", "dir/b.txt", "dir/c.txt"} {
			w.Write(name, fmt.Sprintf("turn %d\n", n))
		}
		req := w.request(checkpoint.Turn)
		req.Retention = policy
		w.save(req)
	}
	turn(0)
	before := w.looseFiles()
	const turns = 80
	for n := range turns {
		turn(n + 1)
	}
	contents := 3 * turns
	assert.LessOrEqual(t, w.looseFiles()-before-contents, 8*turns)
	assert.LessOrEqual(t, len(w.live()), 40)
	assert.GreaterOrEqual(t, len(w.live()), 20)
	w.sound()
}

// A save replaces the note of the last sync, and never follows a symlink in its place.
func TestNoteOfSyncedFilesIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.manual(1)
	path := w.s.Notes.Path("synced")
	first, err := os.Stat(path)
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	w.manual(1)
	second, err := os.Stat(path)
	require.NoError(t, err)
	assert.False(t, second.ModTime().Before(first.ModTime()))
	assert.False(t, os.SameFile(first, second))

	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, []byte("mine"), 0o666))
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink(outside, path))
	w.manual(1)
	data, err := os.ReadFile(outside)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(data))
	again, err := os.Lstat(path)
	require.NoError(t, err)
	assert.True(t, again.Mode().IsRegular())
	data, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, text, data)
	left, err := filepath.Glob(w.GitPath("git-checkpoint/.tmp-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}
