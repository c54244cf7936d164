package gitstore

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// syncArchived syncs with Archived set.
func (w *world) syncArchived() Synced {
	w.t.Helper()
	done, err := w.s.Sync(ctx, SyncRequest{Remote: "origin", Issues: []checkpoint.Issue{"42"}, Archived: true})
	require.NoError(w.t, err)
	require.Len(w.t, done, 1)
	require.NoError(w.t, done[0].Err)
	return done[0]
}

// archiveTip returns the archive tip, or "".
func (w *world) archiveTip() string {
	out, _ := w.Run(nil, "rev-parse", "-q", "--verify", ArchiveRef("42"))
	return string(out)
}

// sameArchives checks that all clones and their hub have equal archives with exactly
// these checkpoints on top of genesis.
func sameArchives(t *testing.T, hub string, want []checkpoint.ID, clones ...*world) {
	t.Helper()
	for _, c := range clones {
		assert.Equal(t, want, c.archived())
		assert.Equal(t, clones[0].archiveTip(), c.archiveTip())
		assert.Equal(t, clones[0].tip(), c.tip())
		c.sound()
	}
	out, err := clones[0].Run(nil, "--git-dir="+hub, "rev-parse", ArchiveRef("42"))
	require.NoError(t, err)
	assert.Equal(t, clones[0].archiveTip(), string(out))
}

// If one clone archives checkpoints, every clone with these checkpoints archives them
// too. The archive is a separate chain in all clones.
func TestArchivingSomeGivesEveryCloneTheSameArchive(t *testing.T) {
	gittest.Slow(t)
	for name, which := range map[string][]int{
		"latest": {3}, "latest~1": {2}, "first": {0}, "several": {0, 2}, "neighbours": {2, 3}, "all": {0, 1, 2, 3},
	} {
		for _, archived := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				a, b, hub, ids := pair(t, 4)
				var chosen, rest []checkpoint.ID
				for k, id := range ids {
					if len(which) > 0 && which[0] == k {
						chosen, which = append(chosen, id), append(which[1:], which[0])
					} else {
						rest = append(rest, id)
					}
				}
				a.archive(retention.ReasonAsked, chosen...)
				a.sync()
				if archived {
					b.syncArchived()
				} else {
					b.sync()
				}
				sameArchives(t, hub, chosen, a, b)
				assert.Equal(t, append([]checkpoint.ID{}, rest...), b.live())
				meet(t, hub, a, b)

				a.now = a.now.Add(40 * 24 * time.Hour)
				expired, err := a.s.Prune(ctx, PruneRequest{Issue: "42", Stay: &retention.Stay{Completed: 7, Other: 30}})
				require.NoError(t, err)
				assert.ElementsMatch(t, chosen, expired.Expired)
				meet(t, hub, a, b)
				sameArchives(t, hub, []checkpoint.ID{}, a, b)
				assert.Equal(t, append([]checkpoint.ID{}, rest...), b.live())
			})
		}
	}
}

// An archive may contain live checkpoints, as left by a loss of power. They count as live, and a sync of
// archives removes them from the archive.
func TestArchiveWithLiveCheckpointsIsSynced(t *testing.T) {
	gittest.Slow(t)
	a, b, hub, ids := pair(t, 3)
	before := b.tip()
	a.archive(retention.ReasonAsked, ids[2])
	a.sync()
	b.sync()
	b.Git("update-ref", ArchiveRef("42"), before)
	b.sound()
	assert.Equal(t, ids[:2], b.live())
	assert.Equal(t, ids[2:], b.archived())
	b.syncArchived()
	sameArchives(t, hub, ids[2:], a, b)
	assert.Equal(t, ids[:2], b.live())
	meet(t, hub, a, b)
}
