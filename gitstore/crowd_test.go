package gitstore

import (
	"math/rand/v2"
	"sync"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
)

// A crowd is a set of clones that save, prune, pin, drop and sync concurrently. It
// records expected results.
type crowd struct {
	t       *testing.T
	hub     string
	clones  []*world
	mu      sync.Mutex
	saved   map[checkpoint.ID]bool
	dropped map[checkpoint.ID]bool
	pruned  map[checkpoint.ID]bool // may survive because of a pin elsewhere
	retries int
}

// gather creates a crowd. Unless over is nil, it changes how clones reach the hub.
func gather(t *testing.T, clones int, over func(w *world, hub string)) *crowd {
	t.Helper()
	a, b, hub, ids := pair(t, 1)
	c := &crowd{
		t: t, hub: hub, clones: []*world{a, b},
		saved: map[checkpoint.ID]bool{ids[0]: true}, dropped: map[checkpoint.ID]bool{}, pruned: map[checkpoint.ID]bool{},
	}
	for len(c.clones) < clones {
		c.clones = append(c.clones, a.clone(hub))
	}
	for _, w := range c.clones {
		if over != nil {
			over(w, hub)
			w.s = w.open(w.Dir)
		}
	}
	return c
}

// work makes every clone save each times.
func (c *crowd) work(each int) {
	var all sync.WaitGroup
	for n, w := range c.clones {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 3))
			for k := range each {
				c.once(w, r, k)
			}
		})
	}
	all.Wait()
}

// once saves, runs a random operation, and syncs every second time.
func (c *crowd) once(w *world, r *rand.Rand, k int) {
	c.note(c.saved, w.manual(1)...)
	live := w.live()
	id := live[r.IntN(len(live))]
	switch r.IntN(6) {
	case 0:
		c.note(c.dropped, id) // before the drop, since another clone may drop it first
		_ = w.s.Drop(ctx, "42", []checkpoint.ID{id})
	case 1:
		_, err := w.s.Pin(ctx, "42", id, r.IntN(2) == 0)
		assert.NoError(w.t, err)
	case 2:
		done, err := w.s.Prune(ctx, PruneRequest{Issue: "42", Policy: retention.Policy{checkpoint.Manual: {Keep: 12}}})
		if assert.NoError(w.t, err) {
			c.note(c.pruned, done.Removed...)
		}
	}
	if k%2 == 0 {
		tries := w.sync().Retries
		c.mu.Lock()
		c.retries += tries
		c.mu.Unlock()
	}
}

func (c *crowd) note(in map[checkpoint.ID]bool, ids ...checkpoint.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		in[id] = true
	}
}

// agree syncs all clones twice. It then checks for lost or resurrected checkpoints, and
// for equal tips of all clones and the hub.
func (c *crowd) agree(saves int) {
	c.t.Helper()
	meet(c.t, c.hub, c.clones...)
	alive := map[checkpoint.ID]bool{}
	for _, id := range c.clones[0].live() {
		alive[id] = true
		assert.Falsef(c.t, c.dropped[id], "%s is back", id)
	}
	for id := range c.saved {
		assert.Truef(c.t, alive[id] || c.dropped[id] || c.pruned[id], "%s is lost", id)
	}
	assert.Len(c.t, c.saved, saves)
	c.t.Logf("%d saved, %d alive, %d dropped, %d pruned, %d retries", len(c.saved), len(alive), len(c.dropped), len(c.pruned), c.retries)
}

// Clones that save, prune, pin, drop and sync concurrently lose no checkpoint and finally
// agree.
func TestSyncConcurrent(t *testing.T) {
	gittest.Slow(t)
	clones, each := 4, 8
	if gittest.Torture() { // newWorld clears the variable
		clones, each = 8, 50
	}
	c := gather(t, clones, nil)
	c.work(each)
	c.agree(clones*each + 1)
}
