package gitstore

import (
	"os"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// IfChanged saves only if HEAD, staged files, captured files or the record changed.
func TestIfChanged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(w *world, req *SaveRequest)
		want   bool
	}{
		"nothing":       {func(*world, *SaveRequest) {}, false},
		"trigger alone": {func(w *world, req *SaveRequest) { req.Edit = w.request(checkpoint.Interval).Edit }, false},
		"unstaged":      {func(w *world, req *SaveRequest) { req.Staged = true; w.save(*req); w.Write("a.txt", "x") }, false},
		"staged":        {func(w *world, _ *SaveRequest) { w.Write("a.txt", "x"); w.Git("add", "a.txt") }, true},
		"HEAD":          {func(w *world, _ *SaveRequest) { w.Commit("empty") }, true},
		"branch":        {func(w *world, _ *SaveRequest) { w.Git("checkout", "-q", "-b", "other") }, true},
		"phase": {func(w *world, req *SaveRequest) {
			req.Edit = w.request(checkpoint.Manual, func(r *checkpoint.Record) { r.SetPhase("testing") }).Edit
		}, true},
		"worktree": {func(w *world, req *SaveRequest) { w.Write("a.txt", "x") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.manual(1)
			req := w.request(checkpoint.Manual)
			c.change(w, &req)
			before := w.live()
			req.IfChanged = true
			w.now = w.now.Add(time.Second)
			_, err := w.s.Save(ctx, req)
			if !c.want {
				require.ErrorIs(t, err, ErrUnchanged)
				assert.Equal(t, before, w.live())
				return
			}
			require.NoError(t, err)
			_, err = w.s.Save(ctx, req)
			require.ErrorIs(t, err, ErrUnchanged)
		})
	}
}

// Errors in bookkeeping beside the chain cause a warning, since the save is already in
// the chain.
func TestSaveWarnsIfResumptionCannotBeRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.manual(1)
	file := w.s.chain.ResumedFile("42")
	require.NoError(t, os.MkdirAll(file+"/full", 0o777)) // cannot be removed as a file
	saved := w.save(w.request(checkpoint.Manual))
	assert.NotEmpty(t, saved.Warnings)
	assert.Len(t, w.live(), 2)
}

// Git allows any bytes in branch names, but records contain text.
func TestBranchNameWithInvalidUTF8(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Git("symbolic-ref", "HEAD", "refs/heads/caf\xe9")
	saved := w.save(w.request(checkpoint.Manual))
	assert.Equal(t, `"caf\351"`, saved.Record.Branch())
	w.sound()
}
