package gitstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The worktree has the files of the last save or complete restore. An undo has the former
// checkpoint again, and a redo the restored one.
func TestHereNamesTheCheckpointOfTheFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	here := func() checkpoint.ID { return w.s.chain.Here("42") }
	saveFile := func(text string) *Checkpoint {
		w.Write("file", text)
		req := w.request(checkpoint.Manual)
		return &w.save(req).Checkpoint
	}
	restore := func(c *Checkpoint, options RestoreOptions) *Restored {
		options.Asked = true
		done, err := w.s.Restore(ctx, RestoreRequest{Checkpoint: c, Request: options})
		require.NoError(t, err)
		return done
	}
	assert.Empty(t, here())
	first := saveFile("one\n")
	assert.Equal(t, first.ID, here())
	second := saveFile("two\n")
	assert.Equal(t, second.ID, here())

	restore(first, RestoreOptions{DryRun: true})
	restore(first, RestoreOptions{Paths: []string{"file"}})
	assert.Equal(t, second.ID, here(), "a part of the files")
	restore(first, RestoreOptions{})
	assert.Equal(t, first.ID, here(), "all files, although none of them changed")
	restore(second, RestoreOptions{})
	assert.Equal(t, second.ID, here())
	_, err := w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
	require.NoError(t, err)
	assert.Equal(t, first.ID, here())
	_, err = w.s.Revert(ctx, "redo", Which{Issue: "42"}, nil)
	require.NoError(t, err)
	assert.Equal(t, second.ID, here())

	w.Write("file", "unknown\n")
	require.Equal(t, []string{"file"}, restore(first, RestoreOptions{}).Skipped)
	assert.Equal(t, second.ID, here(), "a file was left as it is")

	for _, text := range []string{"", "not an id\n", string(first.ID) + "\nno id\n", strings.Repeat(string(first.ID)+"\n", 9)} {
		require.NoError(t, os.WriteFile(filepath.Join(w.s.repo.StateDir(), "here", "42"), []byte(text), 0o666))
		assert.Empty(t, here(), "%q", text)
	}
	require.NoError(t, w.s.chain.SetHere("42", ""))
	require.NoError(t, w.s.chain.SetHere("42", ""))
}
