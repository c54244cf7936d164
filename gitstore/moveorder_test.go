package gitstore

import (
	"os"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/repo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
