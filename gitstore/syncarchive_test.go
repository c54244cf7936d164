package gitstore

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"

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
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
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

// Two clones archive concurrently, including a common checkpoint.
func TestArchivingInTwoClonesAtOnce(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	a, b, hub, ids := pair(t, 4)
	a.archive(retention.ReasonAsked, ids[1], ids[3])
	b.archive(retention.ReasonFailed, ids[1], ids[2])
	saved := b.manual(1)
	meet(t, hub, a, b)
	sameArchives(t, hub, ids[1:], a, b)
	assert.Equal(t, []checkpoint.ID{ids[0], saved[0]}, a.live())
}

// If a workflow finishes in one clone during another clone's save, the saved checkpoint
// stays live.
func TestFinishInOneCloneWhileAnotherSaves(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	a, b, hub, ids := pair(t, 3)
	a.archive(retention.ReasonCompleted)
	saved := b.manual(2)
	b.sync()
	meet(t, hub, a, b)
	sameArchives(t, hub, ids, a, b)
	assert.Equal(t, saved, a.live())
}

// Undo of an archival is permanent, and after a sync it reaches every clone.
func TestUndoOfAnArchiveBeforeAndAfterTheSync(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	a, b, hub, ids := pair(t, 3)
	a.archive(retention.ReasonAsked, ids[1])
	_, err := a.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
	require.NoError(t, err)
	meet(t, hub, a, b)
	assert.Equal(t, ids, b.live())
	assert.Empty(t, a.archived())

	a.archive(retention.ReasonAsked, ids[1])
	a.sync()
	b.sync()
	_, err = b.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
	require.ErrorIs(t, err, ErrNothingToUndo)
	_, err = a.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
	require.NoError(t, err)
	assert.Equal(t, ids, a.live())
	a.sound()
	ids = append(ids, b.manual(1)...)
	meet(t, hub, a, b)
	for _, c := range []*world{a, b} {
		assert.Equal(t, ids, c.live())
		assert.Empty(t, c.archived())
	}
}

// A killed sync left an archive at the remote, then its archival was undone here. The
// checkpoint is live, and in no clone's archive. The remote keeps it, because another
// clone may push the matching chain.
func TestRemoteArchiveContainsLiveCheckpoint(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	a, b, hub, ids := pair(t, 3)
	a.archive(retention.ReasonAsked, ids[1])
	a.Git("push", "-q", "origin", ArchiveRef("42"))
	_, err := a.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
	require.NoError(t, err)
	b.syncArchived()
	a.syncArchived()
	for _, c := range []*world{a, b} {
		assert.Equal(t, Synced{Issue: "42", Result: UpToDate}, c.syncArchived())
		assert.Empty(t, c.archived())
		assert.Equal(t, ids, c.live())
		c.sound()
	}
	assert.Contains(t, a.Git("--git-dir="+hub, "log", "--format=%B", ArchiveRef("42")), ids[1])
	a.archive(retention.ReasonAsked, ids[1])
	a.sync()
	b.sync()
	sameArchives(t, hub, ids[1:2], a, b)
}

// An archive may contain live checkpoints, as left by a loss of power. A sync of the named issue,
// or doctor --fix, repairs it.
func TestArchiveWithLiveCheckpointsIsRepaired(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	for name, heal := range map[string]func(w *world){
		"sync":            func(w *world) { w.sync() },
		"sync --archived": func(w *world) { w.syncArchived() },
		"doctor --fix":    (*world).heal,
	} {
		t.Run(name, func(t *testing.T) {
			a, b, hub, ids := pair(t, 3)
			before := b.tip()
			a.archive(retention.ReasonAsked, ids[2])
			a.sync()
			b.sync()
			b.Git("update-ref", ArchiveRef("42"), before)
			report, err := b.s.Verify(ctx, "42")
			require.NoError(t, err)
			require.Len(t, report.Errors, 2)
			assert.Contains(t, report.Errors[0], "it is in the chain and in the archive: git checkpoint doctor --fix")
			heal(b)
			sameArchives(t, hub, ids[2:], a, b)
			assert.Equal(t, ids[:2], b.live())
			meet(t, hub, a, b)
		})
	}
}

// After a plain fetch of a chain with archivals, removed checkpoints enter the local
// archive.
func TestPlainFetchOfChainWithArchivals(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	a, b, hub, ids := pair(t, 3)
	a.archive(retention.ReasonAsked, ids[1])
	a.sync()
	b.manual(1)
	b.Git("fetch", "-q", "origin", "+refs/checkpoints/*:refs/checkpoints/*")
	assert.Len(t, b.live(), 3)
	assert.Equal(t, ids[1:2], b.archived())
	b.sound()
	meet(t, hub, a, b)
	sameArchives(t, hub, ids[1:2], a, b)
}

// Partial clones have equal archives. Shallow clones follow, and have equal archives once
// they have the whole history.
func TestArchiveReachesPartialAndShallowClones(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	a, _, hub, ids := pair(t, 3)
	a.Git("--git-dir="+hub, "config", "uploadpack.allowFilter", "true")
	a.Git("--git-dir="+hub, "config", "uploadpack.allowAnySHA1InWant", "true")
	partial := a.clone(hub, "--filter=blob:none")
	partial.sync()
	a.archive(retention.ReasonAsked, ids[1])
	a.sync()
	partial.sync()
	sameArchives(t, hub, ids[1:2], a, partial)

	shallow := a.clone(hub, "--depth=1")
	shallow.Git("fetch", "-q", "--depth=2", "origin", "refs/checkpoints/*:refs/checkpoints/*")
	shallow.s = shallow.open(shallow.Dir)
	a.archive(retention.ReasonAsked, ids[0])
	a.sync()
	require.NoError(t, shallow.sync().Err)
	shallow.Git("fetch", "-q", "--unshallow", "origin", "+refs/checkpoints/*:refs/checkpoints/*")
	shallow.s = shallow.open(shallow.Dir)
	shallow.syncArchived()
	sameArchives(t, hub, ids[:2], a, shallow)
}
