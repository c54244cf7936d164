package join

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
)

// local runs an operation on the chain of one clone in one transaction. change modifies a
// copy of the state. local first repairs the changes of plain git.
func (w *world) local(c *clone, kind string, change func(s *State, order []checkpoint.ID) []checkpoint.ID) bool {
	w.absorb(c)
	base := c.public.asChain().State
	s := State{maps.Clone(base.Checkpoints), c.public.ledger().Clone()}
	if s.Checkpoints == nil {
		s.Checkpoints = map[checkpoint.ID]Checkpoint{}
	}
	var order []checkpoint.ID
	if c.public != nil {
		order = slices.Clone(c.public.order)
	}
	order = change(&s, order)
	if order == nil {
		return false
	}
	mark := ""
	if kind != "save" {
		mark = w.mark(c)
	}
	was := c.public
	if c.public = write(s, order, mark); kind == "save" || kind == "pin" || c.shallow {
		c.public.below = was
	}
	if w.r.IntN(40) == 0 { // killed between two ref updates
		w.kinds["killed"]++
		return false
	}
	c.own = c.public
	w.kinds[kind]++
	return true
}

// absorb merges the public ref, possibly changed by plain git, with the last chain that
// this clone wrote.
func (w *world) absorb(c *clone) {
	if c.own == c.public {
		return
	}
	c.shared = true
	if !w.rules.own || c.shallow { // nothing but a killed save changes a shallow chain
		c.own = c.public
		return
	}
	c.knows.add(truthOf(c.public))
	joined, was := w.join(c, c.public, c.own), []*chain{c.public, c.own}
	if w.rules.repairMoves && !c.shallow {
		_, c.archive = w.joinArchives(joined, nil, c.archive, movingTo(c.archive, joined, was...))
	}
	c.public, c.own = joined, joined
	w.checkMoved(c, was...)
}

// join merges chains as a clone does, and returns one of these chains or a new chain.
func (w *world) join(c *clone, chains ...*chain) *chain {
	list := make([]Chain, len(chains))
	for k := range chains {
		list[k] = chains[k].asChain()
	}
	s, as := w.rules.merge(w.at(c), list...)
	for _, in := range list {
		if in.State.Ledger != nil {
			w.expired = w.expired || forgot(in.State.Ledger.Pruned, s.Ledger)
		}
	}
	if as >= 0 {
		return chains[as]
	}
	if len(s.Checkpoints) == 0 && s.Ledger.IsEmpty() {
		return nil
	}
	newest := s.Ledger.NewestPruned()
	for _, cp := range s.Checkpoints {
		newest = max(newest, cp.Clock)
	}
	for id, at := range s.Ledger.Pruned {
		if at < newest-30*day {
			w.violate("%s keeps an old line about %s", c.name, id)
		}
	}
	return write(s, w.rules.order(s), w.mark(c))
}

// forgot reports whether ledger l has lost a pruned line without a deleted line in its
// place.
func forgot(pruned map[checkpoint.ID]checkpoint.Clock, l *ledger.Ledger) bool {
	for id := range pruned {
		if _, ok := l.Pruned[id]; !ok && !l.Deleted[id] {
			return true
		}
	}
	return false
}

func (w *world) save(c *clone) {
	now := w.at(c)
	w.made++
	id := checkpoint.ID(fmt.Sprintf("CP-%04d-%s", (w.made*7919)%10_000, c.name))
	var clock, below checkpoint.Clock
	var on []checkpoint.ID
	done := w.local(c, "save", func(s *State, order []checkpoint.ID) []checkpoint.ID {
		below, on = c.public.newest(), slices.Clone(order)
		clock = w.rules.tick(below, now)
		s.Checkpoints[id] = Checkpoint{clock, fmt.Sprintf("%04x", w.r.IntN(1<<16))}
		return append(order, id)
	})
	w.saved[id] = true
	w.clocks[id] = clock
	if w.on[id] = on; clock <= below {
		w.violate("%s saves before what it has", c.name)
	}
	if done {
		c.knows.live[id] = c.public.state.Checkpoints[id].Tree
	} else {
		w.doubt[id] = true
	}
}

// forge changes the content of a checkpoint, like a manual rewrite of a chain.
func (w *world) forge(c *clone) {
	id := w.one(c.public)
	if !w.forged || id == "" || c.shallow {
		return
	}
	if w.local(c, "forge", func(s *State, order []checkpoint.ID) []checkpoint.ID {
		cp, ok := s.Checkpoints[id]
		if !ok {
			return nil
		}
		cp.Tree = fmt.Sprintf("%04x", w.r.IntN(1<<16))
		s.Checkpoints[id] = cp
		return order
	}) {
		w.doubt[id] = true
	}
}

func (w *world) prune(c *clone) {
	if c.shallow {
		return
	}
	var ids []checkpoint.ID
	var at checkpoint.Clock
	marked := false
	done := w.local(c, "prune", func(s *State, order []checkpoint.ID) []checkpoint.ID {
		for k, id := range order {
			if k < len(order)-c.keep && !s.Ledger.Pinned(id) && !s.Ledger.Deleted[id] && !s.Ledger.IsArchived(id) {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			return nil
		}
		at = s.Ledger.NewestPruned()
		for _, cp := range s.Checkpoints {
			at = max(at, cp.Clock)
		}
		if marked = c.shared; marked {
			for _, id := range ids {
				s.Ledger.Pruned[id] = at
			}
			s.Ledger.Expire(at)
		}
		return remove(s, order, ids...)
	})
	for _, id := range ids {
		if w.gone.pruned[id] = max(w.gone.pruned[id], at); !done {
			w.doubt[id] = true
			continue
		}
		delete(c.knows.live, id)
		if marked {
			c.knows.pruned[id] = max(c.knows.pruned[id], at)
		}
	}
}

func remove(s *State, order []checkpoint.ID, ids ...checkpoint.ID) []checkpoint.ID {
	for _, id := range ids {
		delete(s.Checkpoints, id)
	}
	return slices.DeleteFunc(order, func(id checkpoint.ID) bool { return slices.Contains(ids, id) })
}

func (w *world) drop(c *clone) {
	id := w.one(c.public)
	if id == "" {
		return
	}
	w.gone.deleted[id] = true
	if w.local(c, "drop", func(s *State, order []checkpoint.ID) []checkpoint.ID {
		s.Ledger.Deleted[id] = true
		delete(s.Ledger.Archived, id)
		delete(s.Ledger.Pruned, id)
		delete(s.Ledger.Pins, id)
		if c.shallow {
			return order
		}
		c.archive = c.archive.without(id)
		return append([]checkpoint.ID{}, remove(s, order, id)...)
	}) {
		c.knows.deleted[id] = true
	} else {
		w.doubt[id] = true
	}
}

func (w *world) pin(c *clone) {
	id := w.one(c.public)
	var p ledger.Pin
	if id == "" {
		return
	}
	now := w.at(c)
	if w.r.IntN(2) == 0 { // several clones pin one checkpoint at the same time
		now, id = now.Truncate(24*time.Hour), c.public.order[0]
	}
	on := !c.public.ledger().Pinned(id)
	if w.local(c, "pin", func(s *State, order []checkpoint.ID) []checkpoint.ID {
		if _, there := s.Checkpoints[id]; !there || s.Ledger.Deleted[id] || s.Ledger.Pinned(id) == on {
			return nil
		}
		s.Ledger.SetPin(id, on, now)
		p = s.Ledger.Pins[id]
		return order
	}) {
		c.knows.pin(id, p)
	} else if p != (ledger.Pin{}) {
		w.doubt[id] = true
	}
}
