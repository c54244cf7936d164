package join

import (
	"maps"
	"math/rand/v2"
	"slices"

	"git-checkpoint/gitstore/internal/ledger"
)

// sync starts a sync or runs its next step. Like gitstore, it reads the remote refs,
// merges, pushes with a lease, and updates the local refs in one transaction.
func (w *world) sync(c *clone, to *remote) {
	f := c.flight
	if f == nil {
		c.flight = &flight{to: to, seen: to.ref, seenKnows: to.knows.clone()}
		return
	}
	f.phase++
	first, second := w.pushArchive, w.push
	if !w.keeps(archiveFirstRule) {
		first, second = second, first
	}
	switch f.phase {
	case 1:
		w.decide(c, f)
	case 2:
		first(c, f)
	case 3:
		second(c, f)
	default:
		c.flight = nil
		w.land(c, f)
	}
}

func (w *world) decide(c *clone, f *flight) {
	f.public, f.own = c.public, c.own
	list := []*chain{c.public, c.own, f.seen}
	switch {
	case !w.keeps(acceptRule) && c.own.contradicts(f.seen):
		list = []*chain{c.public, c.own}
	case !w.keeps(ownRule):
		list = []*chain{c.public, f.seen}
	case !w.keeps(mergeRule) && f.seen != nil:
		list = []*chain{f.seen}
	}
	if !w.keeps(absenceRule) && f.seen == nil && c.shared {
		list = []*chain{nil}
	}
	if c.shallow {
		if !w.follow(c, f) {
			f.result = w.join(c, list...)
			w.decideArchive(c, f)
		}
	} else {
		f.result = w.join(c, list...)
		w.decideArchive(c, f)
	}
	f.pushed = c.knows.clone()
	f.pushed.add(truthOf(f.result))
}

// contradicts reports whether two chains have different contents under one id.
func (c *chain) contradicts(o *chain) bool {
	for m := range c.asChain().State.Members {
		if len(o.contents(m.ID)) > 0 && !o.has(m) {
			return true
		}
	}
	return false
}

// follow selects the longer of two chains in a shallow clone if one extends the other.
// Otherwise it splices chains with a common commit. A remote chain without a common commit
// is fetched completely, and then merged like in a complete clone.
func (w *world) follow(c *clone, f *flight) bool {
	switch {
	case f.seen == nil || c.public != nil && extends(c.public, f.seen):
		f.result = c.public
	case c.public == nil || extends(f.seen, c.public) || !w.keeps(cutRule):
		f.result = f.seen
	default:
		common := c.public
		for common != nil && !extends(f.seen, common) {
			common = common.below
		}
		if common == nil {
			w.kinds["cut"]++
			w.unshallow(c)
			return false
		}
		w.kinds["spliced"]++
		f.result = w.splice(c, common, f.seen)
	}
	f.archive, f.filed = c.archive, c.archive
	return true
}

// extends reports whether chain b extends chain a by commits, or equals it.
func extends(b, a *chain) bool {
	for ; b != nil; b = b.below {
		if b.tip == a.tip {
			return true
		}
	}
	return false
}

// splice merges the commits of a shallow clone and of a remote above a common chain.
// Archived checkpoints stay, unless one side has moved them to the archive.
func (w *world) splice(c *clone, common, seen *chain) *chain {
	above := func(o *chain) State {
		s := State{Members: maps.Clone(o.state.Members), Ledger: o.ledger()}
		maps.DeleteFunc(s.Members, func(m Member, _ Checkpoint) bool { return common.has(m) })
		return s
	}
	ours, theirs := above(c.public), above(seen)
	want := MergeStates(ours, theirs)
	for _, in := range []State{ours, theirs} {
		w.expired = w.expired || forgot(in.Ledger, want.Ledger)
	}
	for _, side := range [][2]State{{ours, theirs}, {theirs, ours}} {
		for m, cp := range side[0].Members {
			_, both := side[1].Members[m]
			if w.keeps(spliceRule) && want.Ledger.IsArchived(m.ID) && (both || !side[1].Ledger.IsArchived(m.ID)) {
				want.Members[m] = cp
			}
		}
	}
	order := append(slices.Clone(common.order), want.Order()...)
	maps.Copy(want.Members, common.state.Members)
	if slices.Equal(order, seen.order) && want.Ledger.Equal(seen.ledger()) {
		return seen
	}
	result := write(want, order, w.mark(c))
	result.below = common
	return result
}

// decideArchive merges the archives. It reads the remote's archive at random, during
// healing, or if the push publishes an archiving.
func (w *world) decideArchive(c *clone, f *flight) {
	f.archive = c.archive
	here := []*chain{c.archive}
	if f.looked = w.healing || w.r.IntN(3) == 0 || w.publishes(f.result, f.seen); f.looked {
		f.seenArchive = f.to.archive
		if !w.keeps(mergeArchiveRule) && f.seenArchive != nil {
			here = nil
		}
	}
	if w.keeps(movingRule) {
		here = append(here, movingTo(c.archive, f.result, c.public, c.own, f.seen))
	}
	f.shared, f.filed = w.joinArchives(f.result, f.seenArchive, here...)
}

// publishes reports whether the push adds an archived line to the remote, deletes an
// archived checkpoint, or removes an archived one that a shallow clone left in the chain.
func (w *world) publishes(result, seen *chain) bool {
	for m := range seen.asChain().State.Members {
		if w.keeps(leftRule) && result.ledger().Files(m.ID, m.Content) {
			return true
		}
	}
	for _, id := range result.ledger().IDs(ledger.Archived) {
		if !seen.ledger().IsArchived(id) {
			return true
		}
	}
	for _, id := range seen.ledger().IDs(ledger.Archived) {
		if result.ledger().HasDeleted(id) {
			return true
		}
	}
	return false
}

func (w *world) pushArchive(c *clone, f *flight) {
	switch {
	case !f.looked || f.shared == nil || same(f.shared, f.seenArchive):
		return
	case !same(f.to.archive, f.seenArchive) && w.keeps(archiveLeaseRule):
		w.kinds["refused"]++
		c.flight = nil
		return
	}
	f.to.archive = f.shared
	w.kinds["archive pushed"]++
}

func (w *world) push(c *clone, f *flight) {
	switch {
	case f.result == nil || same(f.result, f.seen):
		return
	case !same(f.to.ref, f.seen) && w.keeps(leaseRule):
		w.kinds["refused"]++
		c.flight = nil
		return
	}
	for m := range f.seen.asChain().State.Members {
		if f.result.ledger().Files(m.ID, m.Content) && !f.result.has(m) && !w.isInArchive(m) && !w.gone.deletes(m) && !w.doubt[m.ID] {
			w.violate("%s left the chain of %s, and is in no archive of a remote", m, f.to.name)
		}
	}
	f.to.set(f.result)
	f.to.knows.add(f.pushed)
	w.kinds["pushed"]++
}

// isInArchive reports whether the archive of a remote has a checkpoint.
func (w *world) isInArchive(m Member) bool {
	return slices.ContainsFunc(w.remotes, func(r *remote) bool { return r.archive.has(m) })
}

func (r *remote) set(c *chain) {
	r.past = append(r.past, r.ref)
	r.ref = c
}

// land updates the local refs. If another process has moved them, the sync must start
// again.
func (w *world) land(c *clone, f *flight) {
	c.shared = c.shared || f.result != nil
	if c.public != f.public || c.own != f.own || !same(c.archive, f.archive) {
		w.kinds["lost the race"]++
		return
	}
	if !same(f.result, f.public) || !same(f.filed, f.archive) {
		w.kinds["landed"]++
	}
	c.archive = f.filed
	if w.r.IntN(80) == 0 && !w.healing { // killed between two ref updates
		w.kinds["killed"]++
		return
	}
	c.public = f.result
	w.checkMoved(c, f.public, f.own, f.seen)
	if w.r.IntN(40) == 0 { // killed between two ref updates
		w.kinds["killed"]++
		return
	}
	c.own = f.result
	c.knows.add(f.pushed)
	c.knows.add(f.seenKnows)
}

// plainGit runs a random plain git command without git-checkpoint.
func (w *world) plainGit(c *clone) {
	to := w.remotes[w.r.IntN(len(w.remotes))]
	if c.shallow {
		return
	}
	kind := []string{"fetch", "fetch +", "fetch --prune", "reset", "delete", "push", "push --force", "push :ref", "reset remote", "mirror", "push :archive"}[w.r.IntN(11)]
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
		w.pushed(c, to)
	case "push --force":
		if c.public == nil {
			return
		}
		w.pushed(c, to)
	case "push :ref":
		to.force(nil)
	case "reset remote":
		to.force(to.past1(w.r))
	case "push :archive":
		w.loseArchive(to)
	case "mirror":
		to.force(w.remotes[w.r.IntN(len(w.remotes))].ref)
	}
	w.kinds[kind]++
}

// pushed models a push of a chain with plain git, without its archive. Archived
// checkpoints may exist only in this clone.
func (w *world) pushed(c *clone, to *remote) {
	to.force(c.public)
	for m := range c.archive.asChain().State.Members {
		w.doubt[m.ID] = w.doubt[m.ID] || !to.archive.has(m)
	}
}

// force sets a remote's ref by hand. Checkpoints without another copy are lost.
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

// starts reports whether chain b extends chain a with the same commits.
func starts(b, a *chain) bool {
	if len(a.order) > len(b.order) || !slices.Equal(b.order[:len(a.order)], a.order) {
		return false
	}
	for _, m := range a.order {
		if a.state.Members[m] != b.state.Members[m] {
			return false
		}
	}
	return a.ledger().Equal(b.ledger()) // the last ledger commit has all lines
}
