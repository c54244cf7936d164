package gitstore

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore/checkpoint"
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
