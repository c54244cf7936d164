package gitstore

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"git-checkpoint/gitstore/internal/refs"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Chains from a plain fetch or clone have no reflog before their first local move. Undo
// can still revert this move.
func TestUndoTheFirstMoveOfAFetchedChain(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"files", "another"} {
		t.Run(format, func(t *testing.T) {
			w := newWorld(t)
			ids := w.manual(3)
			require.NoError(t, os.RemoveAll(filepath.Join(w.s.repo.Info.CommonDir, "logs", "refs", "checkpoints")))
			w.s.repo.Info.RefFormat = format
			w.s.repo.Refs.Files = format == "files"
			require.NoError(t, w.s.Drop(ctx, "42", ids[1:]))
			done, err := w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
			require.NoError(t, err)
			assert.ElementsMatch(t, ids[1:], done.IDs())
			assert.Equal(t, ids, w.live())
		})
	}
}

// A gc expires entries of moves with unreachable results before the entry of the removal
// itself.
func TestUndoWhenOlderEntriesExpired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(3)
	require.NoError(t, w.s.Drop(ctx, "42", ids[1:]))
	file := filepath.Join(w.s.repo.Info.CommonDir, "logs", "refs", "checkpoints", "42")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	entries, err := refs.ReadLog(w.s.repo.Info.CommonDir, LiveRef("42"))
	require.NoError(t, err)
	require.Len(t, entries, 4)
	w.Git("reflog", "delete", LiveRef("42")+"@{1}")
	w.Git("reflog", "delete", LiveRef("42")+"@{1}")
	left, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Less(t, len(left), len(data))
	done, err := w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
	require.NoError(t, err)
	assert.ElementsMatch(t, ids[1:], done.IDs())
	assert.Equal(t, ids, w.live())
}

// Git has the same entries as the file. It skips an entry with an unreadable commit, which is an error.
func TestReflogOfGit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.manual(4)
	want, err := w.s.repo.EveryEntry(ctx, LiveRef("42"))
	require.NoError(t, err)
	require.Len(t, want, 4)
	w.s.repo.Info.RefFormat = "another"
	entries, err := w.s.repo.EveryEntry(ctx, LiveRef("42"))
	require.NoError(t, err)
	assert.Equal(t, want, entries)
	name := want[1].New.String()
	require.NoError(t, os.Remove(filepath.Join(w.s.repo.Info.CommonDir, "objects", name[:2], name[2:])))
	_, err = w.s.repo.EveryEntry(ctx, LiveRef("42"))
	require.ErrorContains(t, err, "git cannot read the commit of an entry")
}

// HEAD is a symbolic ref, and its reflog records checkouts.
func TestReflogOfHEAD(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Git("checkout", "-q", "-b", "fix")
	w.Git("checkout", "-q", "-b", "other")
	entries, err := w.s.repo.Reflog(t.Context(), "HEAD")
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	assert.Equal(t, "checkout: moving from fix to other", entries[0].Message)
	once, became := w.s.Facts.OnceHad(t.Context(), "fix", time.Time{})
	assert.True(t, once)
	assert.Empty(t, became)

	w.Git("branch", "-q", "-m", "better")
	_, became = w.s.Facts.OnceHad(t.Context(), "other", time.Time{})
	assert.Equal(t, "better", became)
	once, became = w.s.Facts.OnceHad(t.Context(), "other", time.Now().Add(time.Hour))
	assert.True(t, once)
	assert.Empty(t, became, "that was another branch")
}
