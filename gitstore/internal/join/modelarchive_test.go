package join

import (
	"maps"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
)

// archiveOf returns an archive chain with the checkpoints of s on top of the genesis
// commit. The chain is not nil even if s is empty.
func (w *world) archiveOf(s State) *chain {
	return write(State{Members: s.Members}, s.Order(), "")
}

// without returns the archive without the checkpoints ids.
func (c *chain) without(ids ...Member) *chain {
	if c == nil || !slices.ContainsFunc(ids, func(m Member) bool { _, ok := c.state.Members[m]; return ok }) {
		return c
	}
	s := State{Members: maps.Clone(c.state.Members)}
	order := remove(&s, slices.Clone(c.order), ids...)
	return write(s, order, "")
}

// same reports whether two refs have equal values.
func same(a, b *chain) bool { return a.asChain().Tip == b.asChain().Tip }

func (c *chain) has(m Member) bool {
	if c == nil {
		return false
	}
	_, ok := c.state.Members[m]
	return ok
}

// movingTo returns the checkpoints of chains that live marks as archived and that the
// archive lacks. The result has no tip.
func movingTo(archive, live *chain, chains ...*chain) *chain {
	moving := &chain{state: State{Members: map[Member]Checkpoint{}}}
	for _, c := range chains {
		if c == nil {
			continue
		}
		for m, cp := range c.state.Members {
			if live.ledger().Files(m.ID, m.Content) && !archive.has(m) && !moving.has(m) {
				moving.state.Members[m] = cp
			}
		}
	}
	return moving
}

// joinArchives merges the archives of a remote and a clone. Each result is an existing
// archive or a new archive.
func (w *world) joinArchives(live, theirs *chain, here ...*chain) (shared, ours *chain) {
	list := make([]Chain, len(here))
	for k, a := range here {
		list[k] = a.asChain()
	}
	there, kept := MergeArchives(live.asChain().State, theirs.asChain(), list...)
	all := append([]*chain{theirs}, here...)
	return w.pickArchive(there, all), w.pickArchive(kept, all)
}

func (w *world) pickArchive(s State, archives []*chain) *chain {
	list, exist := make([]Chain, len(archives)), false
	for k, a := range archives {
		list[k] = a.asChain()
		exist = exist || list[k].Tip != ""
	}
	as := Pick(s, list...)
	switch {
	case as >= 0:
		return archives[as]
	case len(s.Members) == 0 && !exist:
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
		for m := range h.state.Members {
			if c.public.ledger().Files(m.ID, m.Content) && !c.archive.has(m) && !c.public.has(m) {
				w.violate("%s left the chain of %s, and is not in its archive", m, c.name)
			}
		}
	}
	for m := range c.public.asChain().State.Members {
		if c.archive.has(m) && !w.doubt[m.ID] && !c.public.ledger().IsArchived(m.ID) {
			w.violate("%s is live and archived in %s", m, c.name)
		}
	}
}

func (w *world) archive(c *clone) {
	if m := w.one(c.public); m.ID != "" {
		w.file(c, "archive", m)
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
func (w *world) file(c *clone, kind string, members ...Member) {
	why := []string{"aged", "failed"}[w.r.IntN(2)]
	moved := map[Member]Checkpoint{}
	done := w.local(c, kind, func(s *State, order []Member) []Member {
		for _, m := range members {
			if _, ok := s.Members[m]; !ok || s.Ledger.Dead(m.ID, m.Content) {
				continue
			}
			for _, m := range c.public.contents(m.ID) { // an archived line is about all contents
				moved[m] = s.Members[m]
			}
		}
		for m := range moved {
			if !s.Ledger.IsArchived(m.ID) {
				s.Ledger.SetArchived(m.ID, why, w.at(c))
			}
		}
		if len(moved) == 0 {
			return nil
		}
		if c.shallow {
			w.kinds["shallow "+kind]++
			return order
		}
		all := State{Members: maps.Clone(moved)}
		maps.Copy(all.Members, c.archive.asChain().State.Members)
		c.archive = w.archiveOf(all)
		if w.r.IntN(40) == 0 { // killed between two ref updates
			w.kinds["killed"]++
			return nil
		}
		return remove(s, order, slices.Collect(maps.Keys(moved))...)
	})
	for m := range moved {
		w.doubt[m.ID] = w.doubt[m.ID] || !done
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
	var back []Member
	done := w.local(c, "undo", func(s *State, _ []Member) []Member {
		for m, cp := range moved {
			if _, there := s.Members[m]; there || s.Ledger.Deletes(m.ID, m.Content) {
				continue
			}
			if now, ok := c.archive.asChain().State.Members[m]; ok {
				cp = now
			}
			s.Members[m] = cp
			s.Ledger = revived(s.Ledger, m.ID)
			c.knows.forget(m.ID)
			back = append(back, m)
		}
		if len(back) == 0 {
			return nil
		}
		return s.Order()
	})
	if done { // otherwise killed before the update of the archive ref
		c.archive = c.archive.without(back...)
	}
	for _, m := range back {
		if !done {
			w.doubt[m.ID] = true
			continue
		}
		c.knows.live[m] = true
	}
}

// expire deletes an expired checkpoint from the archive.
func (w *world) expire(c *clone) {
	m := w.one(c.archive)
	if m.ID == "" || c.shallow || len(c.public.contents(m.ID)) > 0 {
		return
	}
	if !w.local(c, "expire", func(s *State, order []Member) []Member {
		s.Ledger.Delete(m.ID, "")
		c.archive = c.archive.without(c.archive.contents(m.ID)...)
		return append([]Member{}, order...)
	}) {
		w.doubt[m.ID] = true
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
	for m := range r.archive.asChain().State.Members {
		w.doubt[m.ID] = true
	}
	r.archive = nil
}

// sameKept reports whether archive equals shared without the checkpoints that end
// excludes from archives.
func (w *world) sameKept(end, shared, archive *chain) bool {
	kept := keptArchived(end.state, shared.asChain().State.Members)
	return maps.Equal(kept, archive.state.Members)
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
		if shared := r.archive.without(slices.Collect(maps.Keys(end.state.Members))...); archive != nil && !w.sameKept(end, shared, archive) {
			w.violate("%s has another archive than the clones", r.name)
		}
	}
	for m := range archive.asChain().State.Members {
		switch {
		case end.has(m):
			w.violate("%s is live and archived", m)
		case all.deletes(m):
			w.violate("%s was deleted and is in the archive", m)
		}
	}
	for m := range all.live {
		// After a pruning, a clone may archive another content of the id, and no longer have this one.
		_, pruned := w.gone.pruned(m.ID)
		hasOther := pruned && len(archive.contents(m.ID)) > 0
		if all.isOn("archived", m.ID) && !w.gone.deletes(m) && !w.doubt[m.ID] && !archive.has(m) && !hasOther {
			w.violate("%s was archived and is in no archive", m)
		}
	}
}

// revived returns a ledger without the facts that a checkpoint was deleted, pruned or archived.
func revived(l *ledger.Ledger, id checkpoint.ID) *ledger.Ledger {
	var kept strings.Builder
	for line := range strings.Lines(string(l.Encode())) {
		words := strings.Fields(line)
		if words[2] != string(id) || !slices.Contains([]string{ledger.Deleted, ledger.Pruned, ledger.Archived, ledger.Reason}, words[1]) {
			kept.WriteString(line)
		}
	}
	after, err := ledger.Parse([]byte(kept.String()))
	if err != nil {
		panic(err)
	}
	return after
}
