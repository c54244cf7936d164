package gitstore

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
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

// TestConsolidateBesideSavesAndGC runs saves, consolidations, git gc and git repack at the
// same time. Every saved checkpoint is found, and all its objects exist.
func TestConsolidateBesideSavesAndGC(t *testing.T) {
	gittest.Slow(t)
	w := newWorld(t)
	const savers, each = 3, 12
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
	for range 2 {
		s := w.open(w.Dir)
		background.Go(func() {
			for !done.Load() {
				// A gc may delete a loose object or a directory at any time. The error
				// leaves the files for the next call.
				_ = s.repo.Consolidate(ctx, 1)
			}
		})
	}
	background.Go(func() {
		for k := 0; !done.Load(); k++ {
			_, _ = w.Run(nil, [][]string{{"gc", "-q", "--prune=now"}, {"repack", "-qad"}, {"gc", "-q"}}[k%3]...)
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

	// Objects that git wrote stay loose. The other objects are in one pack.
	loose, packs := w.s.repo.OwnLoose()
	assert.Greater(t, loose, repo.LooseLimit)
	assert.Zero(t, packs)
	all := w.looseFiles()
	require.NoError(t, w.s.Consolidate(ctx))
	assert.Equal(t, all-loose, w.looseFiles())
	loose, packs = w.s.repo.OwnLoose()
	assert.Zero(t, loose)
	assert.Equal(t, 1, packs)
	w.sound()
	require.NoError(t, w.s.Consolidate(ctx), "nothing to do")
}

// TestConsolidateWaitsForMaintenance checks that nothing is packed while git maintenance
// holds its lock. The lock of a killed git does not stop the packing forever.
func TestConsolidateWaitsForMaintenance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.save(w.request(checkpoint.Turn))
	before := w.looseFiles()
	lock := w.GitPath("objects/maintenance.lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o666))
	require.NoError(t, w.s.repo.Consolidate(ctx, 1))
	assert.Equal(t, before, w.looseFiles())

	yesterday := time.Now().AddDate(0, 0, -1)
	require.NoError(t, os.Chtimes(lock, yesterday, yesterday))
	require.NoError(t, w.s.repo.Consolidate(ctx, 1))
	assert.Less(t, w.looseFiles(), before)
}

// TestConsolidateKeepsPreciousObjects checks that no file is deleted in a repository in
// which git refuses to delete objects.
func TestConsolidateKeepsPreciousObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Git("config", "core.repositoryFormatVersion", "1")
	w.Git("config", "extensions.preciousObjects", "true")
	w.s = w.open(w.Dir)
	w.save(w.request(checkpoint.Turn))
	before := w.looseFiles()
	require.NoError(t, w.s.repo.Consolidate(ctx, 1))
	assert.Equal(t, before, w.looseFiles())
	loose, _ := w.s.repo.OwnLoose()
	assert.NotZero(t, loose)

	w.Git("config", "extensions.preciousObjects", "false")
	w.s = w.open(w.Dir)
	require.NoError(t, w.s.repo.Consolidate(ctx, 1))
	assert.Equal(t, before-loose, w.looseFiles())
}
