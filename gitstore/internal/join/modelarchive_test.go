package join

import (
	"maps"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
)

// archiveOf returns an archive chain with the checkpoints of s on top of the genesis
// commit. The chain is not nil even if s is empty.
func (w *world) archiveOf(s State) *chain {
	return write(State{Checkpoints: s.Checkpoints}, w.rules.order(s), "")
}

// without returns the archive without the checkpoints ids.
func (c *chain) without(ids ...checkpoint.ID) *chain {
	if c == nil || !slices.ContainsFunc(ids, func(id checkpoint.ID) bool { _, ok := c.state.Checkpoints[id]; return ok }) {
		return c
	}
	s := State{Checkpoints: maps.Clone(c.state.Checkpoints)}
	order := remove(&s, slices.Clone(c.order), ids...)
	return write(s, order, "")
}

// same reports whether two refs have equal values.
func same(a, b *chain) bool { return a.asChain().Tip == b.asChain().Tip }

func (c *chain) has(id checkpoint.ID) bool {
	if c == nil {
		return false
	}
	_, ok := c.state.Checkpoints[id]
	return ok
}

// movingTo returns the checkpoints of chains that live marks as archived and that the
// archive lacks. The result has no tip.
func movingTo(archive, live *chain, chains ...*chain) *chain {
	m := &chain{state: State{Checkpoints: map[checkpoint.ID]Checkpoint{}}}
	for _, c := range chains {
		if c == nil {
			continue
		}
		for id, cp := range c.state.Checkpoints {
			if live.ledger().IsArchived(id) && !archive.has(id) && !m.has(id) {
				m.state.Checkpoints[id] = cp
			}
		}
	}
	return m
}

// joinArchives merges the archives of a remote and a clone. Each result is an existing
// archive or a new archive.
func (w *world) joinArchives(live, theirs *chain, here ...*chain) (shared, ours *chain) {
	list := make([]Chain, len(here))
	for k, a := range here {
		list[k] = a.asChain()
	}
	there, kept := w.rules.archives(live.asChain().State, theirs.asChain(), list...)
	all := append([]*chain{theirs}, here...)
	return w.pickArchive(there, all), w.pickArchive(kept, all)
}

func (w *world) pickArchive(s State, archives []*chain) *chain {
	list, exist := make([]Chain, len(archives)), false
	for k, a := range archives {
		list[k] = a.asChain()
		exist = exist || list[k].Tip != ""
	}
	as := w.rules.pick(s, list...)
	switch {
	case as >= 0:
		return archives[as]
	case len(s.Checkpoints) == 0 && !exist:
		return nil
	}
	return w.archiveOf(s)
}

// checkMoved checks two invariants of a clone: its archive holds all its archived
// checkpoints, and no checkpoint is both live and archived.
func (w *world) checkMoved(c *clone, had ...*chain) {
	if c.shallow {
		return
	}
	for _, h := range had {
		if h == nil {
			continue
		}
		for id := range h.state.Checkpoints {
			if c.public.ledger().IsArchived(id) && !c.archive.has(id) && !c.public.has(id) {
				w.violate("%s left the chain of %s, and is not in its archive", id, c.name)
			}
		}
	}
	for id := range c.public.asChain().State.Checkpoints {
		if c.archive.has(id) && !w.doubt[id] && !c.public.ledger().IsArchived(id) {
			w.violate("%s is live and archived in %s", id, c.name)
		}
	}
}

func (w *world) archive(c *clone) {
	if id := w.one(c.public); id != "" {
		w.file(c, "archive", id)
	}
}

// finish archives all checkpoints of a chain.
func (w *world) finish(c *clone) {
	if c.public != nil && len(c.public.order) > 0 {
		w.file(c, "finish", slices.Clone(c.public.order)...)
	}
}

// file moves checkpoints to the archive. The archive ref is updated first. A shallow clone
// only adds them to the ledger.
func (w *world) file(c *clone, kind string, ids ...checkpoint.ID) {
	how := ledger.Archival{Reason: []string{"aged", "failed"}[w.r.IntN(2)], Clock: checkpoint.ClockAt(w.at(c))}
	moved := map[checkpoint.ID]Checkpoint{}
	done := w.local(c, kind, func(s *State, order []checkpoint.ID) []checkpoint.ID {
		for _, id := range ids {
			w.gone.archived[id] = ledger.Archival{}
			if cp, ok := s.Checkpoints[id]; ok && !s.Ledger.Dead(id) {
				s.Ledger.Archived[id], moved[id] = how, cp
			}
		}
		if len(moved) == 0 {
			return nil
		}
		if c.shallow {
			w.kinds["shallow "+kind]++
			return order
		}
		all := State{Checkpoints: maps.Clone(moved)}
		maps.Copy(all.Checkpoints, c.archive.asChain().State.Checkpoints)
		c.archive = w.archiveOf(all)
		if w.r.IntN(40) == 0 { // killed between two ref updates
			w.kinds["killed"]++
			return nil
		}
		return remove(s, order, slices.Collect(maps.Keys(moved))...)
	})
	for id := range moved {
		if done {
			c.knows.archive(id, how)
		} else {
			w.doubt[id] = true
		}
	}
	if done && !c.shallow {
		c.undo = append(c.undo, moved)
	}
}

// takeBack undoes the last archiving of a clone. A later sync archives these checkpoints
// again if another clone knows of the archiving.
func (w *world) takeBack(c *clone) {
	if len(c.undo) == 0 || c.shallow {
		return
	}
	moved := c.undo[len(c.undo)-1]
	c.undo = c.undo[:len(c.undo)-1]
	var back []checkpoint.ID
	done := w.local(c, "undo", func(s *State, _ []checkpoint.ID) []checkpoint.ID {
		for id, cp := range moved {
			if _, there := s.Checkpoints[id]; there || s.Ledger.Deleted[id] {
				continue
			}
			if now, ok := c.archive.asChain().State.Checkpoints[id]; ok {
				cp = now
			}
			s.Checkpoints[id] = cp
			delete(s.Ledger.Archived, id)
			delete(s.Ledger.Pruned, id)
			back = append(back, id)
		}
		if len(back) == 0 {
			return nil
		}
		return w.rules.order(*s)
	})
	if done { // otherwise killed before the update of the archive ref
		c.archive = c.archive.without(back...)
	}
	for _, id := range back {
		if !done {
			w.doubt[id] = true
			continue
		}
		delete(c.knows.archived, id)
		delete(c.knows.pruned, id)
		c.knows.live[id] = c.public.state.Checkpoints[id].Tree
	}
}

// expire deletes an expired checkpoint from the archive.
func (w *world) expire(c *clone) {
	id := w.one(c.archive)
	if id == "" || c.shallow || c.public.has(id) {
		return
	}
	w.gone.deleted[id] = true
	if w.local(c, "expire", func(s *State, order []checkpoint.ID) []checkpoint.ID {
		s.Ledger.Deleted[id] = true
		delete(s.Ledger.Archived, id)
		delete(s.Ledger.Pruned, id)
		delete(s.Ledger.Pins, id)
		c.archive = c.archive.without(id)
		return append([]checkpoint.ID{}, remove(s, order, id)...)
	}) {
		c.knows.deleted[id] = true
	} else {
		w.doubt[id] = true
	}
}

// unshallow models `git fetch --unshallow`.
func (w *world) unshallow(c *clone) {
	if c.shallow {
		c.shallow = false
		w.kinds["unshallow"]++
	}
}

// loseArchive deletes a remote's archive with plain git. Checkpoints without another copy
// are lost.
func (w *world) loseArchive(r *remote) {
	for id := range r.archive.asChain().State.Checkpoints {
		w.doubt[id] = true
	}
	r.archive = nil
}

// sameKept reports whether archive equals shared without the checkpoints that end
// excludes from archives.
func (w *world) sameKept(end, shared, archive *chain) bool {
	kept := keptArchived(end.state, shared.asChain().State.Checkpoints)
	return maps.Equal(kept, archive.state.Checkpoints)
}

// checkArchives checks that all clones and remotes have the same archive. It must hold
// every archived checkpoint that was not deleted, and no live or deleted checkpoint.
func (w *world) checkArchives(end *chain, all *truth) {
	var archive *chain
	for _, c := range w.clones {
		switch {
		case c.dead:
		case archive == nil:
			archive = c.archive
		case c.archive == nil || c.archive.tip != archive.tip:
			w.violate("%s has another archive than the others", c.name)
		}
	}
	for _, r := range w.remotes { // an undo or a kill can leave live checkpoints in the archive
		if shared := r.archive.without(slices.Collect(maps.Keys(end.state.Checkpoints))...); archive != nil && !w.sameKept(end, shared, archive) {
			w.violate("%s has another archive than the clones", r.name)
		}
	}
	for id := range archive.asChain().State.Checkpoints {
		switch {
		case end.has(id):
			w.violate("%s is live and archived", id)
		case all.deleted[id]:
			w.violate("%s was deleted and is in the archive", id)
		}
	}
	for id := range all.live {
		if all.isArchived(id) && !w.gone.deleted[id] && !w.doubt[id] && !archive.has(id) {
			w.violate("%s was archived and is in no archive", id)
		}
	}
}
