package gitstore

import (
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/internal/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Loose and packed refs, as git lists them: the loose value of two, deeper
// ones, and nothing of a prefix's neighbour.
func TestRefValuesAreGits(t *testing.T) {
	w := newWorld(t)
	w.manual(1)
	head := w.Git("rev-parse", "HEAD")
	for _, ref := range []string{"refs/checkpoints/7", "refs/checkpoints-archive/7", "refs/git-checkpoint/remote/origin/7"} {
		w.Git("update-ref", ref, head)
	}
	w.Git("tag", "-a", "-m", "x", "v1")
	w.Git("pack-refs", "--all")
	w.manual(1)
	w.Git("update-ref", "refs/checkpoints/8", head)
	for _, prefixes := range [][]string{{liveRefs}, {liveRefs, bookRefs}, {archiveRefs}, {"refs/none/"}} {
		want, err := w.s.refs(ctx, prefixes...)
		require.NoError(t, err)
		got, err := w.s.refValues(ctx, prefixes...)
		require.NoError(t, err)
		assert.Equal(t, want, got, "%v", prefixes)
	}
}

// What is no ref is passed over: locks, garbage, symbolic refs.
func TestRefValuesPassesOver(t *testing.T) {
	w := newWorld(t)
	w.manual(1)
	for name, text := range map[string]string{"9": "", "10": "ref: refs/heads/main\n", "11.lock": w.tip() + "\n", "12": "zz"} {
		require.NoError(t, os.WriteFile(filepath.FromSlash(w.GitPath("refs/checkpoints/"+name)), []byte(text), 0o666))
	}
	got, err := w.s.refValues(ctx, liveRefs)
	require.NoError(t, err)
	assert.Len(t, got, 1)
	assert.Equal(t, w.tip(), got[LiveRef("42")].String())
}

func TestRefValuesOfOtherBackends(t *testing.T) {
	w := newWorld(t, func(r *gittest.Repo) {
		if _, err := r.Run(nil, "refs", "migrate", "--ref-format=reftable"); err != nil {
			t.Skip("this git has no reftable")
		}
	})
	w.manual(1)
	got, err := w.s.refValues(ctx, liveRefs)
	require.NoError(t, err)
	assert.Equal(t, w.tip(), got[LiveRef("42")].String())
}
