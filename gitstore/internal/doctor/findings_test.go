package doctor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFolders checks that exactly the leftover files of every directory are found.
func TestFolders(t *testing.T) {
	t.Parallel()
	common := t.TempDir()
	f := Folders{
		Common: common, Objects: filepath.Join(common, "objects"), Cache: filepath.Join(common, "ours", "cache"),
		Refs: []string{"refs/chains/"}, State: "ours",
	}
	left := map[string]FileKind{
		"packed-refs.lock": RefLock, "refs/chains/a/b.lock": RefLock, "index.lock": IndexLock,
		"objects/12/tmp_obj_x": Object, "objects/pack/tmp_pack_x": Object, "objects/pack/tmp_mtimes_x": Object, "ours/cache/new-x": Temporary,
		"ours/.tmp-1": Temporary, "index-12-34": Temporary, "index-12-34.lock": Temporary,
		"worktrees/w/index.lock": IndexLock, "worktrees/w/ours/.tmp-1": Temporary, "worktrees/w/index-1-2": Temporary,
	}
	for name := range left {
		put(t, filepath.Join(common, name))
	}
	for _, name := range []string{
		"refs/chains/a/b", "refs/heads/x.lock", "config.lock", "index", "index-x-1", "index-12-ab", "index-1-",
		"objects/12/34", "ours/restore", "ours/deep/.tmp-1", "worktrees/w/deep/index.lock",
	} {
		put(t, filepath.Join(common, name))
	}
	found, err := f.Files()
	require.NoError(t, err)
	got := map[string]FileKind{}
	for _, file := range found {
		got[file.Path] = file.Kind
	}
	assert.Equal(t, left, got)
	assert.Equal(t, []string{"."}, f.Pending())
	put(t, filepath.Join(common, "worktrees", "w", "ours", "restore"))
	assert.Equal(t, []string{".", "worktrees/w"}, f.Pending())
}

func put(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, nil, 0o666))
}

// TestRemove checks that recently modified files remain.
func TestRemove(t *testing.T) {
	t.Parallel()
	f := Folders{Common: t.TempDir()}
	elsewhere := filepath.Join(t.TempDir(), "index.lock")
	for _, path := range []string{filepath.Join(f.Common, "a.lock"), elsewhere} {
		put(t, path)
		name := f.Name(path)
		assert.Equal(t, path == elsewhere, filepath.IsAbs(name))
		assert.ErrorContains(t, f.Remove([]string{name}, time.Now().Add(-time.Hour)), "another process uses it")
		assert.FileExists(t, path)
		require.NoError(t, f.Remove([]string{name}, time.Now().Add(time.Hour)))
		assert.NoFileExists(t, path)
		require.NoError(t, f.Remove([]string{name}, time.Now()), "gone is gone")
	}
}

func TestParseObjects(t *testing.T) {
	t.Parallel()
	text := "count: 12\nsize: 48\nin-pack: 9\npacks: 3\nsize-pack: 4\nprune-packable: 0\ngarbage: 1\nalternate: /a: 5\n"
	assert.Equal(t, ObjectCounts{Loose: 12, Packs: 3, Garbage: 1}, ParseObjects(text))
	assert.Zero(t, ParseObjects(""))
}

// TestJudgePace covers work saved rarely, too often, or only at its end.
func TestJudgePace(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 14, 14, 30, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const stale = 2 * time.Hour
	for _, c := range []struct {
		name  string
		pace  Pace
		stale time.Duration
		want  []string
	}{
		{"in step", Pace{Whole: true, Phases: 5, Done: 3, Checkpoints: 7, Newest: ago(time.Hour), Count: 20}, stale, nil},
		{"not saved for long", Pace{Phases: 5, Done: 2, Checkpoints: 3, Newest: ago(3 * time.Hour)}, stale, []string{"issue 42: not saved for 3 hours, with 2 of 5 phases done"}},
		{"one phase alone", Pace{Phases: 1, Newest: ago(3 * time.Hour)}, stale, nil},
		{"all is done", Pace{Phases: 5, Done: 5, Checkpoints: 5, Newest: ago(3 * time.Hour)}, stale, nil},
		{"it is over", Pace{Over: true, Phases: 5, Done: 2, Newest: ago(3 * time.Hour)}, stale, nil},
		{"nobody wants to know", Pace{Phases: 5, Newest: ago(3 * time.Hour), Heartbeat: ago(72 * time.Hour)}, 0, nil},
		{"only at the end", Pace{Whole: true, Phases: 5, Done: 5, Checkpoints: 1, Newest: now}, stale, []string{"issue 42: few checkpoints: 1 checkpoint for 5 phases that are done; git checkpoint phase done saves after each"}},
		{"a document of it", Pace{Phases: 5, Done: 5, Checkpoints: 1, Newest: now}, stale, nil},
		{"too often", Pace{Newest: now, Count: 21, Most: "build", Checkpoints: 25}, stale, []string{"issue 42: phase build has 21 checkpoints; to save less often at intervals: git config checkpoint.min-interval 60"}},
		{"a lead that is silent", Pace{Newest: now, Heartbeat: ago(72 * time.Hour)}, stale, []string{"issue 42: its lead may be dead: the last heartbeat was 3 days ago"}},
		{"a lead that is not", Pace{Newest: now, Heartbeat: ago(time.Hour)}, stale, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.pace.Issue = "42"
			var got []string
			for _, f := range JudgePace(now, c.stale, []Pace{c.pace}) {
				assert.False(t, f.Error)
				got = append(got, f.Text)
			}
			assert.Equal(t, c.want, got)
		})
	}
}
