package join

import (
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
)

// A rule is a rule of the clones' syncs.
type rule string

const (
	acceptRule       rule = "another content of an own id is accepted"
	ownRule          rule = "a merge includes the last chain that this clone wrote"
	leaseRule        rule = "a push compares the remote ref with the value read before"
	mergeRule        rule = "the remote's chain is merged with the local chain"
	absenceRule      rule = "a missing remote ref deletes nothing"
	movingRule       rule = "a sync moves archived checkpoints to the local archive"
	repairMovesRule  rule = "a repair after plain git does the same"
	archiveFirstRule rule = "a push updates the archive before the chain"
	archiveLeaseRule rule = "a push of an archive uses a lease"
	mergeArchiveRule rule = "the remote's archive is merged with the local archive"
	cutRule          rule = "a shallow chain is append-only"
	spliceRule       rule = "a splice keeps archived checkpoints"
	leftRule         rule = "archived checkpoints that a shallow clone left in a chain go to the remote's archive"
)

func (w *world) keeps(r rule) bool { return w.breaks != r }

// A world whose clones break a rule violates an invariant. Short mode tries a quarter of the rules,
// chosen by the day.
func TestEveryRuleCounts(t *testing.T) {
	const worlds, first = 400, 96 // worlds that break the rarest rules come first
	for i, broken := range []rule{
		acceptRule, ownRule, leaseRule, mergeRule, absenceRule, movingRule, repairMovesRule, archiveFirstRule,
		archiveLeaseRule, mergeArchiveRule, cutRule, spliceRule, leftRule,
	} {
		if testing.Short() && i%4 != gittest.Day()%4 {
			continue
		}
		t.Run(string(broken), func(t *testing.T) {
			t.Parallel()
			for n := range uint64(worlds) {
				seed := (first + n) % worlds
				w := newWorld(seed, broken)
				w.run(worldSteps)
				if w.broken != "" {
					t.Logf("seed %d: %s", seed, w.broken)
					return
				}
			}
			assert.Failf(t, "nothing broke", "in %d worlds", worlds)
		})
	}
}
