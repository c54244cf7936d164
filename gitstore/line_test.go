package gitstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSweepLinesKeepsCachesInUse removes only the cache of a line that was not used for a week.
func TestSweepLinesKeepsCachesInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.save(w.request(checkpoint.Manual))
	_, err := w.s.Line(ctx, "42")
	require.NoError(t, err)
	dir := w.GitPath("git-checkpoint/lines/42")
	long := time.Now().Add(-8 * 24 * time.Hour)
	age := func() {
		require.NoError(t, os.Chtimes(filepath.Join(dir, "states"), long, long))
		require.NoError(t, os.Chtimes(dir, long, long))
	}
	w.s.SweepLines()
	assert.DirExists(t, dir)
	age()
	_, err = w.s.Line(ctx, "42") // a use
	require.NoError(t, err)
	w.s.SweepLines()
	assert.DirExists(t, dir)
	age()
	w.s.SweepLines()
	assert.NoDirExists(t, dir)
	line, err := w.s.Line(ctx, "42")
	require.NoError(t, err)
	assert.Len(t, line.States, 1)
}

// TestLineAddsOneStateForANewTurn checks that a new checkpoint adds its own objects only, and that
// a cache without a change writes nothing.
func TestLineAddsOneStateForANewTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{"one", "two", "three"} {
		w.Write("dir/new.txt", text+"\n")
		req := w.request(checkpoint.Manual)
		w.save(req)
	}
	count := func() (objects int) {
		_, err := w.s.Line(ctx, "42")
		require.NoError(t, err)
		packs, err := filepath.Glob(w.GitPath("git-checkpoint/lines/42/pack/*.idx"))
		require.NoError(t, err)
		for _, pack := range packs {
			objects += strings.Count(w.Git("verify-pack", "-v", pack), " tree ") + strings.Count(w.Git("verify-pack", "-v", pack), " commit ")
		}
		return objects
	}
	before := count()
	assert.Equal(t, 3, before, "a commit for each state")
	assert.Equal(t, before, count())
	w.Write("dir/new.txt", "four\n")
	req := w.request(checkpoint.Manual)
	w.save(req)
	assert.Equal(t, before+1, count())
}

// TestLineReplacesItsPacksAfterMany checks that the packs of a line are few after many turns, each
// followed by a look.
func TestLineReplacesItsPacksAfterMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.GitPath("git-checkpoint/lines/42/pack")
	for n := range maxLinePacks + 3 {
		w.Write("new.txt", strings.Repeat("line\n", n+1))
		req := w.request(checkpoint.Manual)
		w.save(req)
		_, err := w.s.Line(ctx, "42")
		require.NoError(t, err)
		for _, f := range glob(t, filepath.Join(dir, "*")) {
			long := time.Now().Add(-2 * linesUsed)
			require.NoError(t, os.Chtimes(f, long, long))
		}
	}
	assert.LessOrEqual(t, len(glob(t, filepath.Join(dir, "*.pack"))), 4)
	lines, err := w.s.Blame(ctx, BlameRequest{Issue: "42", Path: "new.txt"})
	require.NoError(t, err)
	sources := map[checkpoint.ID]bool{}
	for _, l := range lines {
		sources[l.Source.Checkpoint.ID] = true
	}
	assert.Len(t, sources, maxLinePacks+3)
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	return files
}
