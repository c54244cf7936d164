package commands

import (
	"fmt"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/require"
)

// A killed sync loses no checkpoint on either side. The next sync completes it: the clone
// and the remote have the checkpoints of both clones.
func TestTortureKillSync(t *testing.T) {
	gittest.Slow(t)
	t.Parallel()
	k := newKiller(t, dose(300))
	var v, other, hub *victim
	var saved map[string]bool
	for i := range k.rounds() {
		if i%30 == 0 {
			v, other, hub = syncedPair(t)
			saved = map[string]bool{}
		}
		saved[other.tool("save", "42", "-m", fmt.Sprintf("there %d", i))] = true
		other.tool("sync", "42", "--yes")
		saved[v.tool("save", "42", "-m", fmt.Sprintf("here %d", i))] = true
		tip, there := v.git("rev-parse", "refs/checkpoints/42"), hub.git("rev-parse", "refs/checkpoints/42")
		d := k.run(v, i, "sync", "42", "--yes")
		switch {
		case !d.killed():
			k.reached["ended"]++
		case v.git("rev-parse", "refs/checkpoints/42") != tip:
			k.reached["ref moved"]++
		case hub.git("rev-parse", "refs/checkpoints/42") != there:
			k.reached["pushed"]++
		case d.wrote:
			k.reached["first write"]++
		default:
			k.reached["start"]++
		}
		v.next("sync", "42", "--yes")
		v.holds("42", saved)
		require.Equal(t, v.git("rev-parse", "refs/checkpoints/42"), hub.git("rev-parse", "refs/checkpoints/42"))
		if i%5 == 0 {
			v.sound()
			hub.fsck()
		}
	}
	k.report()
}

// syncedPair returns two clones and their common remote.
func syncedPair(t *testing.T) (v, other, hub *victim) {
	t.Helper()
	v, other, hub = newVictim(t), newVictim(t), newVictim(t)
	for _, c := range []*victim{v, other} {
		c.git("remote", "add", "origin", hub.dir)
	}
	return v, other, hub
}
