package gitstore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Random histories of several clones, including a partial clone, end with equal chains
// and archives. GIT_CHECKPOINT_TEST_MODEL=full runs more histories.
func TestRandomHistoriesEndWithOneChainAndOneArchive(t *testing.T) {
	gittest.Slow(t)
	histories, steps := 2, 25
	if os.Getenv("GIT_CHECKPOINT_TEST_MODEL") == "full" {
		histories, steps = 40, 60
	}
	for seed := range histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 11))
			a, b, hub, _ := pair(t, 3)
			a.Git("--git-dir="+hub, "config", "uploadpack.allowFilter", "true")
			a.Git("--git-dir="+hub, "config", "uploadpack.allowAnySHA1InWant", "true")
			partial := a.clone(hub, "--filter=blob:none")
			partial.sync()
			clones := []*world{a, b, partial}
			var told []string
			for range steps {
				w := clones[r.IntN(len(clones))]
				told = append(told, w.randomStep(r))
				live, err := w.s.chain.ReadChain(ctx, "42", LiveRef("42"), 0)
				require.NoError(t, err)
				archive, err := w.s.chain.ReadChain(ctx, "42", ArchiveRef("42"), 0)
				require.NoError(t, err)
				for _, l := range archive.Commits {
					require.Nil(t, live.Visible()[l.ID], "live and archived after %q", told)
				}
				for _, c := range clones {
					c.now = w.now
				}
			}
			for range 3 {
				for _, c := range clones {
					c.syncArchived()
				}
			}
			for _, c := range clones {
				assert.Equal(t, a.tip(), c.tip(), "%q", told)
				assert.Equal(t, a.archiveTip(), c.archiveTip(), "%q", told)
				report, err := c.s.Verify(ctx, "42")
				require.NoError(t, err)
				assert.Empty(t, report.Errors, "%q", told)
				assert.Equal(t, UpToDate, c.syncArchived().Result, "%q", told)
			}
			assert.Equal(t, a.tip(), a.Git("--git-dir="+hub, "rev-parse", LiveRef("42")))
		})
	}
}

// randomStep runs a random operation in a clone, and returns its name. It skips
// operations that the chain does not allow.
func (w *world) randomStep(r *rand.Rand) string {
	w.now = w.now.Add(time.Duration(r.Int64N(int64(3 * time.Hour))))
	live := w.live()
	one := func() []checkpoint.ID {
		if len(live) == 0 {
			return nil
		}
		return []checkpoint.ID{live[r.IntN(len(live))]}
	}
	switch n := r.IntN(20); {
	case n < 6:
		w.manual(1)
		return "save"
	case n < 9 && len(live) > 0:
		w.archive(retention.ReasonAsked, one()...)
		return "archive"
	case n < 10 && len(live) > 0:
		w.archive(retention.ReasonCompleted)
		return "finish"
	case n < 12:
		_, _ = w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil) // fails if there is nothing to undo
		return "undo"
	case n < 13 && len(live) > 0:
		require.NoError(w.t, w.s.Drop(ctx, "42", one()))
		return "drop"
	case n < 14:
		w.now = w.now.Add(8 * day)
		w.byAge()
		return "expire"
	case n < 16:
		w.syncArchived()
		return "sync --archived"
	}
	w.sync()
	return "sync"
}
