package gitstore

import (
	"os"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Another process deletes the chain's ref after the save has compared it with
// own/. The save puts its checkpoint on the chain that this clone had.
func TestSaveBesideDeletedRef(t *testing.T) {
	for name, setup := range map[string]func(*gittest.Repo){
		"plain":  func(*gittest.Repo) {},
		"a hook": func(r *gittest.Repo) { r.Write(".git/hooks/reference-transaction", "") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, setup)
			ids := w.manual(3)
			req := w.request(checkpoint.Manual)
			k := w.s.newSink()
			snap, err := w.s.snapshot(ctx, &req, k)
			require.NoError(t, err)
			save := &writing{s: w.s, req: &req, snap: snap, created: w.now}
			tries := 0
			require.NoError(t, w.s.retry(ctx, "42", func() error {
				if tries++; tries == 1 {
					w.Git("update-ref", "-d", LiveRef("42"))
				}
				saved, err := save.append(ctx, k)
				if err == nil {
					ids = append(ids, saved.ID)
				}
				return err
			}))
			assert.Equal(t, 2, tries)
			assert.Equal(t, ids, w.live())
			w.sound()
		})
	}
}

// The ref of a chain that is cut at a shallow boundary, or whose older part is
// damaged, comes back too: a new chain would take its place.
func TestDeletedRefOfDamagedChain(t *testing.T) {
	w := newWorld(t)
	ids := w.manual(3)
	tip, lost := w.Git("rev-parse", LiveRef("42")), w.Git("rev-parse", LiveRef("42")+"~2")
	w.Git("update-ref", "-d", LiveRef("42"))
	require.NoError(t, os.Remove(w.GitPath("objects/"+lost[:2]+"/"+lost[2:])))
	w.s = w.open(w.Dir)
	saved := w.save(w.request(checkpoint.Manual))
	assert.Equal(t, tip, w.Git("rev-parse", LiveRef("42")+"^"))
	l, err := w.s.List(ctx, "42", 3)
	require.NoError(t, err)
	assert.Equal(t, []checkpoint.ID{saved.ID, ids[2], ids[1]}, []checkpoint.ID{l.Checkpoints[0].ID, l.Checkpoints[1].ID, l.Checkpoints[2].ID})
}
