package join

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
)

// local runs an operation on the chain of one clone in one transaction. change modifies a
// copy of the state. local first repairs the changes of plain git.
func (w *world) local(c *clone, kind string, change func(s *State, order []Member) []Member) bool {
	w.absorb(c)
	base := c.public.asChain().State
	s := State{maps.Clone(base.Members), c.public.ledger().Clone()}
	if s.Members == nil {
		s.Members = map[Member]Checkpoint{}
	}
	var order []Member
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
	w.gone.note(s.Ledger)
	if w.r.IntN(40) == 0 { // killed between two ref updates
		w.kinds["killed"]++
		return false
	}
	c.own = c.public
	c.knows.note(s.Ledger)
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
	if !w.keeps(ownRule) || c.shallow { // nothing but a killed save changes a shallow chain
		c.own = c.public
		return
	}
	c.knows.add(truthOf(c.public))
	joined, was := w.join(c, c.public, c.own), []*chain{c.public, c.own}
	if w.keeps(repairMovesRule) && !c.shallow {
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
	s, as := Merge(list...)
	for _, in := range list {
		if in.State.Ledger != nil {
			w.expired = w.expired || forgot(in.State.Ledger, s.Ledger)
		}
	}
	if as >= 0 {
		return chains[as]
	}
	if len(s.Members) == 0 && s.Ledger.IsEmpty() {
		return nil
	}
	facts, newest := newTruth(), s.Ledger.NewestPruned()
	facts.note(s.Ledger)
	for _, cp := range s.Members {
		newest = max(newest, cp.Clock)
	}
	for line := range facts.set {
		if f := strings.Fields(line); f[0] == "pruned" {
			if at, _ := checkpoint.ParseClock(f[2]); at < newest-30*day {
				w.violate("%s keeps an old line about %s", c.name, f[1])
			}
		}
	}
	return write(s, s.Order(), w.mark(c))
}

// forgot reports whether ledger l has lost a pruned line.
func forgot(former, l *ledger.Ledger) bool {
	return slices.ContainsFunc(former.IDs(ledger.Pruned), func(id checkpoint.ID) bool { return !l.IsPruned(id) })
}

func (w *world) save(c *clone) {
	now := w.at(c)
	w.made++
	m := Member{checkpoint.ID(fmt.Sprintf("CP-%04d-%s", (w.made*7919)%10_000, c.name)), w.content()}
	var clock, below checkpoint.Clock
	done := w.local(c, "save", func(s *State, order []Member) []Member {
		below = c.public.newest()
		clock = below.Next(now)
		s.Members[m] = Checkpoint{clock.Saved(now), w.after(s, order)}
		return append(order, m)
	})
	w.saved[m.ID] = true
	if w.clocks[m.ID] = clock; clock <= below {
		w.violate("%s saves before what it has", c.name)
	}
	if done {
		c.knows.live[m] = true
	} else {
		w.doubt[m.ID] = true
	}
}

func (w *world) content() string { return fmt.Sprintf("%064x", w.r.IntN(1<<16)) }

// after returns what a save names: usually the newest checkpoint with those that it names,
// sometimes an older one, or none.
func (w *world) after(s *State, order []Member) string {
	n := len(order) - 1
	if w.r.IntN(6) == 0 {
		n = w.r.IntN(len(order)+1) - 1
	}
	if n < 0 {
		return None
	}
	after := []string{string(order[n].ID)}
	if more := s.Members[order[n]].After; more != None {
		after = append(after, strings.Fields(more)...)
	}
	return strings.Join(after[:min(len(after), checkpoint.MaxAfter)], " ")
}

// stranger rewrites the chain of a remote and pushes it by force: with another content under a
// known id, in place of the former one or beside it, or with facts.
func (w *world) stranger(to *remote) {
	m := w.one(to.ref)
	if !w.hostile || w.healing || m.ID == "" {
		return
	}
	s := State{maps.Clone(to.ref.state.Members), to.ref.ledger().Clone()}
	other, clock := Member{m.ID, w.content()}, []checkpoint.Clock{0, s.Members[m].Clock, math.MaxInt64}[w.r.IntN(3)]
	entry := Checkpoint{clock.Saved(w.now), []string{None, s.Members[m].After, string(w.one(to.ref).ID) + " " + string(w.one(to.ref).ID)}[w.r.IntN(3)]}
	kind := []string{"other content", "twin", "fact"}[w.r.IntN(3)]
	switch kind {
	case "other content":
		delete(s.Members, m)
		s.Members[other] = entry
	case "twin":
		s.Members[other] = entry
	case "fact":
		lines := []string{
			"set deleted ID " + m.Content, "set deleted ID * " + string(w.one(to.ref).ID), "set pruned ID 5", "set purged ID a%20b", "set link ID",
			"last archived ID 1 9", "last archived ID 0 9", "last pin ID 0 9223372036854775807", "last pin ID 1 9", "last position ID - 9", "last color ID x=red 9",
		}
		line := strings.ReplaceAll(lines[w.r.IntN(len(lines))], "ID", string(m.ID))
		l, err := ledger.Parse([]byte(line + "\n"))
		if err != nil {
			panic(err)
		}
		s.Ledger.Add(l)
	}
	w.gone.note(s.Ledger)
	if s.Ledger.IsPruned(m.ID) || s.Ledger.IsArchived(m.ID) {
		w.doubt[m.ID] = true // no archive has it
	}
	w.kinds[kind]++
	to.force(write(s, s.Order(), fmt.Sprint("stranger ", w.steps)))
}

func (w *world) prune(c *clone) {
	if c.shallow {
		return
	}
	var ids []Member
	done := w.local(c, "prune", func(s *State, order []Member) []Member {
		for k, m := range order {
			if k < len(order)-c.keep && !s.Ledger.Pinned(m.ID) && !s.Ledger.HasDeleted(m.ID) && !s.Ledger.IsArchived(m.ID) {
				ids = append(ids, m)
			}
		}
		if len(ids) == 0 {
			return nil
		}
		at := s.Ledger.NewestPruned()
		for _, cp := range s.Members {
			at = max(at, cp.Clock)
		}
		for _, m := range ids {
			line := ledger.New() // also if the chain is not shared: a fact that nobody needs
			line.Prune(m.ID, at, s.Members[m].After)
			if w.gone.note(line); c.shared {
				s.Ledger.Add(line)
			}
		}
		s.Ledger.Expire(at)
		return remove(s, order, ids...)
	})
	for _, m := range ids {
		if done {
			delete(c.knows.live, m)
		} else {
			w.doubt[m.ID] = true
		}
	}
}

func remove(s *State, order []Member, members ...Member) []Member {
	for _, m := range members {
		delete(s.Members, m)
	}
	return slices.DeleteFunc(order, func(m Member) bool { return slices.Contains(members, m) })
}

// contents returns the members of a chain with an id.
func (c *chain) contents(id checkpoint.ID) (members []Member) {
	for m := range c.asChain().State.Members {
		if m.ID == id {
			members = append(members, m)
		}
	}
	return members
}

func (w *world) drop(c *clone) {
	m := w.one(c.public)
	if m.ID == "" {
		return
	}
	if ids := c.public.asChain().State.Doubles(); len(ids) > 0 && w.r.IntN(2) == 0 {
		m = c.public.order[slices.IndexFunc(c.public.order, func(o Member) bool { return o.ID == ids[0] })]
	}
	all := c.public.contents(m.ID)
	one := len(all) > 1 && w.r.IntN(4) > 0 // of several contents
	if !w.local(c, "drop", func(s *State, order []Member) []Member {
		gone, buried := all, c.archive.contents(m.ID)
		if one {
			gone, buried = []Member{m}, []Member{m}
			s.Ledger.DeleteContent(m.ID, m.Content, s.Members[m].After)
		} else {
			s.Ledger.Delete(m.ID, s.Members[m].After)
		}
		if c.shallow {
			return order
		}
		c.archive = c.archive.without(buried...)
		return append([]Member{}, remove(s, order, gone...)...)
	}) {
		w.doubt[m.ID] = true
	}
}

func (w *world) pin(c *clone) {
	m := w.one(c.public)
	if m.ID == "" {
		return
	}
	now, tried := w.at(c), false
	if w.r.IntN(2) == 0 { // several clones pin one checkpoint at the same time
		now, m = now.Truncate(24*time.Hour), c.public.order[0]
	}
	on := !c.public.ledger().Pinned(m.ID)
	if !w.local(c, "pin", func(s *State, order []Member) []Member {
		if _, there := s.Members[m]; !there || s.Ledger.Deletes(m.ID, m.Content) || s.Ledger.Pinned(m.ID) == on {
			return nil
		}
		s.Ledger.SetPin(m.ID, on, now)
		tried = true
		return order
	}) && tried {
		w.doubt[m.ID] = true
	}
}
