package gitstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Git moves refs if a hook, a quarantine, a missing lock or another ref storage exists.
func TestMoveIsLeftToGitIfOthersMayRefuse(t *testing.T) {
	cases := map[string]func(t *testing.T, w *world){
		"a hook":            func(_ *testing.T, w *world) { w.Write(".git/hooks/reference-transaction", "") },
		"hooks elsewhere":   func(_ *testing.T, w *world) { w.Git("config", "core.hooksPath", "~/hooks") },
		"hooks of settings": func(_ *testing.T, w *world) { w.Git("config", "hook.a.command", "true") },
		"a quarantine":      func(t *testing.T, _ *world) { t.Setenv("GIT_QUARANTINE_PATH", "x") },
		"no lock":           func(_ *testing.T, w *world) { w.s.repo.IssueLock = nil },
		"a lock of some":    func(_ *testing.T, w *world) { w.s.repo.IssueLock = &refs.IssueLock{} },
		"refs elsewhere":    func(_ *testing.T, w *world) { w.s.repo.Info.RefFormat = "files:///elsewhere" },
	}
	for name, arrange := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			require.NoError(t, w.s.repo.WithIssueLock(ctx, "42", func() error {
				assert.Equal(t, refs.Here, w.s.repo.MovesHere())
				l := w.s.repo.IssueLock
				defer func() { w.s.repo.IssueLock = l }()
				arrange(t, w)
				assert.False(t, (&repo.Repo{IssueLock: w.s.repo.IssueLock, Info: w.s.repo.Info, Config: w.open(w.Dir).repo.Config}).MovesHere())
				return nil
			}))
		})
	}
}

// Moves between chain and archive write the destination before the source, in both
// directions. Partial moves lose no checkpoint.
func TestArchiveMoveWritesNewRefBeforeDeletingOld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(3)
	_, err := w.s.Archive(ctx, "42", ids[:1], "")
	require.NoError(t, err)
	hook := "#!/bin/sh\ntest \"$1\" != prepared || cut -d' ' -f3 | { ! grep -v /operations/ >" + w.Path("some") + " || mv " + w.Path("some") + " " + w.Path("told") + "; }\n"
	w.Write(".git/hooks/reference-transaction", hook)
	require.NoError(t, os.Chmod(w.GitPath("hooks/reference-transaction"), 0o777))
	_, err = w.s.Archive(ctx, "42", ids[1:2], "")
	require.NoError(t, err)
	assert.Equal(t, []string{ArchiveRef("42"), LiveRef("42"), repo.OwnRef("42")}, strings.Fields(w.Read("told")))
	_, err = w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{LiveRef("42"), repo.OwnRef("42"), ArchiveRef("42")}, strings.Fields(w.Read("told")))
}

// Locks of a concurrent git with the same new value are preserved, for example a fetch
// beside a sync.
func TestLockOfOtherProcessStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.manual(2)
	tip := plumbing.NewHash(w.Git("rev-parse", LiveRef("42")))
	before := plumbing.NewHash(w.Git("rev-parse", LiveRef("42")+"^"))
	w.Git("update-ref", LiveRef("42"), before.String())
	require.NoError(t, w.s.repo.WithIssueLock(ctx, "42", func() error {
		lock(t, w, LiveRef("42"), tip.String()+"\n")
		staged, err := w.s.repo.RefDir().Stage([]refs.Move{{Name: LiveRef("42"), Old: before, New: tip}})
		require.NoError(t, err)
		defer staged.Discard()
		require.ErrorIs(t, staged.Commit(refs.ReflogEntry{Name: "A", Email: "a@b", At: w.now, Message: "sync"}), refs.ErrNeedsGit)
		return nil
	}))
	assert.FileExists(t, w.GitPath(LiveRef("42")+".lock"))
}

// If the folder of a ref is gone, its parent folder is synced.
func TestSyncNearest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, repo.SyncNearest(filepath.Join(dir, "gone", "too")))
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	require.Error(t, repo.SyncNearest(filepath.Join(file, "gone")))
}

// Packs that are protected from gc stay protected until the last try: see KeepFromGC.
func TestPackIsKeptThroughTries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.manual(1)
	w.Write(".git/gc.pid", "1 host\n")
	k := w.s.repo.NewObjectWriter()
	k.Add(3, []byte("a blob"))
	kept := func() []string {
		names, err := filepath.Glob(w.GitPath("objects/pack/*.keep"))
		require.NoError(t, err)
		return names
	}
	require.NoError(t, k.KeepFromGC(ctx, LiveRef("42")))
	require.Len(t, kept(), 1)
	first, err := os.Stat(kept()[0])
	require.NoError(t, err)
	require.NoError(t, k.KeepFromGC(ctx, LiveRef("42")))
	require.Len(t, kept(), 1)
	then, err := os.Stat(kept()[0])
	require.NoError(t, err)
	assert.True(t, os.SameFile(first, then))
	assert.Equal(t, first.ModTime(), then.ModTime())
	k.ReleaseKeptPack()
	assert.Empty(t, kept())
}

// Git completes moves that this process could not complete.
func TestGitCompletesMoveThatFailsHere(t *testing.T) {
	t.Parallel()
	if !refs.Here {
		t.Skip("refs are not moved here")
	}
	w := newWorld(t)
	w.manual(1)
	require.NoError(t, os.Remove(w.GitPath("logs/"+repo.OwnRef("42"))))
	w.manual(1)
	assert.Equal(t, w.Git("rev-parse", LiveRef("42")), w.Git("rev-parse", repo.OwnRef("42")))
	assert.FileExists(t, w.GitPath("logs/"+repo.OwnRef("42")))
	w.sound()
}
