package gitstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Resumes are counted until the next save, which includes their decisions.
func TestResumptionLastsUntilNextSave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	saved := w.save(w.request(checkpoint.Manual, func(r *checkpoint.Record) {
		require.NoError(t, r.Doc().Assign("progress.awaiting_approval", []any{"design"}))
	}))
	cp := &saved.Checkpoint
	assert.Equal(t, 0, w.s.Resumed(cp).Times)

	at := time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)
	require.NoError(t, w.s.SetResumed(cp, ResumeOptions{Retry: true, Approved: []Approval{{Phase: "design", At: at}}}))
	require.NoError(t, w.s.SetResumed(cp, ResumeOptions{Approved: []Approval{{Phase: "design", At: at.Add(time.Hour)}}}))
	want := Resumption{ID: cp.ID, Times: 2, Retries: 1, Approved: []Approval{{Phase: "design", At: at}}}
	assert.Equal(t, want, w.s.Resumed(cp))

	next := w.save(w.request(checkpoint.Manual))
	assert.Equal(t, 2, next.Record.PhaseAttempt())
	assert.Equal(t, []string{"design"}, next.Record.Approved())
	assert.Empty(t, next.Record.Awaiting())
	assert.Equal(t, 0, w.s.Resumed(cp).Times, "a save ends it")

	require.NoError(t, w.s.SetResumed(cp, ResumeOptions{Retry: true}))
	require.NoError(t, w.s.SetResumed(&next.Checkpoint, ResumeOptions{}))
	assert.Equal(t, Resumption{ID: next.ID, Times: 1}, w.s.Resumed(&next.Checkpoint), "another checkpoint is another resume")
	assert.Equal(t, 0, w.s.Resumed(cp).Times)

	require.NoError(t, os.WriteFile(w.s.chain.ResumedFile("42"), []byte("not an id at all\n"), 0o666))
	assert.Equal(t, 0, w.s.Resumed(&next.Checkpoint).Times, "what cannot be read was never resumed")
	last := w.save(w.request(checkpoint.Manual))
	assert.Equal(t, 2, last.Record.PhaseAttempt())
}

// FuzzResumption decodes arbitrary file contents, and its own encoding.
func FuzzResumption(f *testing.F) {
	f.Add("CP-implementing-20260214T143000Z-1f0c9a2b\ntimes 2\nretries 1\napproved 2026-02-14T14:30:00Z \"design\"\n")
	f.Add("CP-x-y-0000aaaa\ntimes -9999999999999999999\napproved x \"\\n\"\napproved 2026-02-14T14:30:00Z \"\\n\\\"\"\n")
	f.Add("CP-x-y-0000aaaa\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := chain.DecodeResumption(text)
		if r.ID == "" {
			assert.Equal(t, Resumption{}, r)
			return
		}
		again := chain.DecodeResumption(string(r.Encode()))
		require.Equal(t, len(r.Approved), len(again.Approved))
		for k := range r.Approved {
			require.True(t, r.Approved[k].At.Equal(again.Approved[k].At))
			require.Equal(t, r.Approved[k].Phase, again.Approved[k].Phase)
		}
		r.Approved, again.Approved = nil, nil
		require.Equal(t, r, again)
		require.False(t, strings.Contains(string(r.ID), "\n"))
	})
}

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
	_, err := w.s.Undo(ctx, Which{Issue: "42"}, nil)
	require.NoError(t, err)
	assert.Equal(t, first.ID, here())
	_, err = w.s.Redo(ctx, Which{Issue: "42"}, nil)
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
