package join

import (
	"math/rand/v2"
	"slices"
)

// sync takes a sync one step further, or begins one. It mirrors gitstore's:
// look at the remote, join, push with a lease, move the refs here in one
// transaction.
func (w *world) sync(c *clone, to *remote) {
	f := c.flight
	if f == nil {
		c.flight = &flight{to: to, seen: to.ref, seenKnows: to.knows.clone()}
		return
	}
	f.phase++
	switch f.phase {
	case 1:
		w.decide(c, f)
	case 2:
		w.push(c, f)
	default:
		c.flight = nil
		w.land(c, f)
	}
}

func (w *world) decide(c *clone, f *flight) {
	f.public, f.own = c.public, c.own
	list := []*chain{c.public, c.own, f.seen}
	switch {
	case !w.rules.own:
		list = []*chain{c.public, f.seen}
	case w.rules.takeTheirs && f.seen != nil:
		list = []*chain{f.seen}
	}
	if w.rules.absenceDeletes && f.seen == nil && c.shared {
		list = []*chain{nil}
	}
	f.result = w.join(c, list...)
	f.pushed = c.knows.clone()
	f.pushed.add(truthOf(f.result))
}

func (w *world) push(c *clone, f *flight) {
	switch {
	case f.result == f.seen || f.result == nil:
		return
	case f.to.ref != f.seen && w.rules.lease:
		w.kinds["refused"]++
		c.flight = nil
		return
	}
	f.to.set(f.result)
	f.to.knows.add(f.pushed)
	w.kinds["pushed"]++
}

func (r *remote) set(c *chain) {
	r.past = append(r.past, r.ref)
	r.ref = c
}

// land moves the refs here; where somebody moved them meanwhile, the sync has
// to begin again.
func (w *world) land(c *clone, f *flight) {
	c.shared = c.shared || f.result != nil
	if c.public != f.public || c.own != f.own {
		w.kinds["lost the race"]++
		return
	}
	if f.result != f.public {
		w.kinds["landed"]++
	}
	c.public = f.result
	if w.r.IntN(40) == 0 { // killed between two refs
		w.kinds["killed"]++
		return
	}
	c.own = f.result
	c.knows.add(f.pushed)
	c.knows.add(f.seenKnows)
}

// plainGit does what somebody may do without this program.
func (w *world) plainGit(c *clone) {
	to := w.remotes[w.r.IntN(len(w.remotes))]
	kind := []string{"fetch", "fetch +", "fetch --prune", "reset", "delete", "push", "push --force", "push :ref", "reset remote", "mirror"}[w.r.IntN(10)]
	switch kind {
	case "fetch": // fast-forward only
		if to.ref == nil || c.public != nil && !starts(to.ref, c.public) {
			return
		}
		c.public = to.ref
	case "fetch +":
		if to.ref == nil {
			return
		}
		c.public = to.ref
	case "fetch --prune":
		c.public = to.ref
	case "reset":
		c.public = to.past1(w.r)
	case "delete":
		c.public = nil
	case "push":
		if c.public == nil || to.ref != nil && !starts(c.public, to.ref) {
			return
		}
		to.force(c.public)
	case "push --force":
		if c.public == nil {
			return
		}
		to.force(c.public)
	case "push :ref":
		to.force(nil)
	case "reset remote":
		to.force(to.past1(w.r))
	case "mirror":
		to.force(w.remotes[w.r.IntN(len(w.remotes))].ref)
	}
	w.kinds[kind]++
}

// force sets a remote's ref by hand: whatever was only there is lost, which
// nobody can help.
func (r *remote) force(c *chain) {
	r.set(c)
	r.knows = truthOf(c)
}

func (r *remote) past1(rnd *rand.Rand) *chain {
	if len(r.past) == 0 {
		return nil
	}
	return r.past[rnd.IntN(len(r.past))]
}

// starts reports whether b is a continuation of a, commit for commit.
func starts(b, a *chain) bool {
	if len(a.order) > len(b.order) || !slices.Equal(b.order[:len(a.order)], a.order) {
		return false
	}
	for _, id := range a.order {
		if a.state.Checkpoints[id] != b.state.Checkpoints[id] {
			return false
		}
	}
	return a.ledger().Equal(b.ledger()) // what ledger commits say is in the newest
}
