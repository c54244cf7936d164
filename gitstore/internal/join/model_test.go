package join

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func (w *world) step() {
	w.steps++
	w.now = w.now.Add(time.Duration(w.r.Int64N(int64([]time.Duration{1, time.Second, time.Hour, 20 * time.Hour}[w.r.IntN(4)]))))
	if w.r.IntN(200) == 0 {
		w.now = w.now.Add(40 * 24 * time.Hour)
	}
	c := w.alive()
	if c == nil {
		w.addClone()
		return
	}
	if to := w.remotes[0]; w.jobs && c.shallow && c.public == nil && to.ref != nil { // a job begins with a fetch
		c.public, c.own, c.shared = to.ref, to.ref, true
		c.knows.add(to.knows)
		return
	}
	switch n := w.r.IntN(108); {
	case n < 22:
		w.save(c)
	case n < 27 && w.jobs:
		w.sync(c, w.remotes[0])
	case n < 27:
		w.prune(c)
	case n < 33:
		w.pin(c)
	case n < 35:
		w.drop(c)
	case n < 37:
		w.archive(c)
	case n < 38:
		w.stranger(w.remotes[w.r.IntN(len(w.remotes))])
	case n < 40:
		c.flight = nil // sync killed
	case n < 43:
		w.plainGit(c)
	case n < 44:
		w.die(c)
	case n < 45:
		w.finish(c)
	case n < 47:
		w.takeBack(c)
	case n < 48:
		w.expire(c)
	case n < 49:
		w.unshallow(c)
	default:
		w.sync(c, w.remotes[w.r.IntN(len(w.remotes))])
	}
}

// die ends a clone, like the end of a CI runner, and may add a new clone.
func (w *world) die(c *clone) {
	if w.r.IntN(3) > 0 {
		return
	}
	c.dead, c.flight = true, nil
	w.kinds["died"]++
	if len(w.clones) < 12 {
		w.addClone()
	}
}

func (w *world) run(steps int) {
	for w.steps < steps && w.broken == "" {
		w.step()
	}
	if w.broken == "" {
		w.heal()
	}
}

// heal syncs all clones with all remotes until every fact has spread: two rounds for one
// remote, another round for each additional remote.
func (w *world) heal() {
	if w.alive() == nil {
		w.addClone()
	}
	w.expired, w.healing = false, true
	for _, c := range w.clones {
		c.shallow = false
	}
	for range 1 + len(w.remotes) {
		w.round()
	}
	if w.expired { // a checkpoint that reappeared needs another round
		w.round()
	}
	w.checkEnd()
	moved := func() int { return w.kinds["pushed"] + w.kinds["landed"] + w.kinds["archive pushed"] }
	before := moved()
	w.round()
	if moved() != before {
		w.violate("a sync changes something when everybody knows everything")
	}
}

func (w *world) round() {
	for _, c := range w.clones {
		if c.dead {
			continue
		}
		for _, to := range w.remotes {
			c.flight = nil
			w.sync(c, to)
			for c.flight != nil {
				w.sync(c, to)
			}
		}
	}
}

// modelSteps returns the total number of steps of all worlds. Each world has worldSteps.
// GIT_CHECKPOINT_TEST_MODEL=full runs a million steps in about 30 seconds.
func modelSteps() int {
	if os.Getenv("GIT_CHECKPOINT_TEST_MODEL") == "full" {
		return 1_000_000
	}
	if testing.Short() {
		return 40_000
	}
	return 80_000
}

const worldSteps = 400

func TestModel(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	for seed := range uint64(modelSteps() / worldSteps) {
		w := newWorld(seed, "")
		w.run(worldSteps)
		require.Emptyf(t, w.broken, "seed %d", seed)
		for kind, n := range w.kinds {
			kinds[kind] += n
		}
	}
	for _, kind := range []string{
		"save", "prune", "pin", "drop", "archive", "finish", "undo", "expire", "unshallow", "cut", "spliced", "shallow archive", "shallow finish", "archive pushed", "twin", "other content", "fact", "killed", "died", "pushed", "landed", "refused", "lost the race",
		"fetch", "fetch +", "fetch --prune", "reset", "delete", "push", "push --force", "push :ref", "reset remote", "mirror", "push :archive",
	} {
		require.NotZerof(t, kinds[kind], "no world had a %q: %v", kind, kinds)
	}
	t.Log(kinds)
}
