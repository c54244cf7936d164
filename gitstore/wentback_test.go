package gitstore

import (
	"os"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goBack restores all files of a checkpoint as a user does.
func (w *world) goBack(id checkpoint.ID) *Restored {
	w.t.Helper()
	c, err := w.s.ByID(ctx, "42", id)
	require.NoError(w.t, err)
	w.now = w.now.Add(time.Second)
	done, err := w.s.Restore(ctx, RestoreRequest{Checkpoint: c, Request: RestoreOptions{Asked: true}})
	require.NoError(w.t, err)
	return done
}

// point returns the id of the checkpoint from which the work goes on.
func (w *world) point() checkpoint.ID {
	w.t.Helper()
	p, err := w.s.Point(ctx, "42")
	require.NoError(w.t, err)
	return p.ID
}

// A checkpoint that another clone saved before the restore is left too, and one that it saved
// afterwards ends the restore. All clones agree.
func TestGoingBackIsJoined(t *testing.T) {
	t.Parallel()
	for name, saveLater := range map[string]bool{"saved before": false, "saved after": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b, hub, ids := pair(t, 3)
			b.now = a.now
			if saveLater {
				b.now = b.now.Add(time.Hour)
			}
			other := b.manual(1)[0]
			a.now = a.now.Add(time.Minute)
			a.goBack(ids[0])
			b.sync()
			meet(t, hub, a, b)
			want := ids[0]
			if saveLater {
				want = other
			}
			assert.Equal(t, want, a.point())
			assert.Equal(t, want, b.point())
		})
	}
}

// The restore itself does not depend on the record of it.
func TestGoingBackRestoresIfTheRefCannotMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var told []string
	s, err := Open(ctx, Options{Dir: w.Dir, Now: func() time.Time { return w.now }, Notify: func(text string) { told = append(told, text) }})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	w.s = s
	w.Write("file", "one\n")
	req := w.request(checkpoint.Manual)
	first := w.save(req)
	w.Write("file", "two\n")
	w.save(req)
	w.Write(".git/hooks/reference-transaction", "#!/bin/sh\n! grep -q refs/checkpoints/\n")
	require.NoError(t, os.Chmod(w.GitPath("hooks/reference-transaction"), 0o777))
	done := w.goBack(first.ID)
	assert.Equal(t, []string{"file"}, done.Restored)
	assert.Contains(t, strings.Join(told, "\n"), "it is not recorded that the work goes on from "+string(first.ID))
	require.NoError(t, os.Remove(w.GitPath("hooks/reference-transaction")))
	assert.NotEqual(t, first.ID, w.point())
}
