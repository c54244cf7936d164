package join

import (
	"maps"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
)

// A truth holds all facts that a clone or remote must know: local operations and the
// results of syncs. Truths only grow. Precedence is decided at the end, by code
// independent of the merge.
type truth struct {
	live     map[checkpoint.ID]string
	deleted  map[checkpoint.ID]bool
	archived map[checkpoint.ID]ledger.Archival
	pruned   map[checkpoint.ID]checkpoint.Clock
	pins     map[checkpoint.ID]ledger.Pin
}

func newTruth() *truth {
	return &truth{
		map[checkpoint.ID]string{},
		map[checkpoint.ID]bool{},
		map[checkpoint.ID]ledger.Archival{},
		map[checkpoint.ID]checkpoint.Clock{},
		map[checkpoint.ID]ledger.Pin{},
	}
}

// truthOf returns the facts of a chain.
func truthOf(c *chain) *truth {
	t := newTruth()
	if c == nil {
		return t
	}
	for id, cp := range c.state.Checkpoints {
		t.live[id] = cp.Tree
	}
	maps.Copy(t.deleted, c.ledger().Deleted)
	maps.Copy(t.archived, c.ledger().Archived)
	maps.Copy(t.pruned, c.ledger().Pruned)
	maps.Copy(t.pins, c.ledger().Pins)
	return t
}

func (t *truth) isArchived(id checkpoint.ID) bool {
	_, archived := t.archived[id]
	return archived
}

func (t *truth) clone() *truth {
	return &truth{maps.Clone(t.live), maps.Clone(t.deleted), maps.Clone(t.archived), maps.Clone(t.pruned), maps.Clone(t.pins)}
}

func (t *truth) add(o *truth) {
	for id, tree := range o.live {
		t.live[id] = max(t.live[id], tree)
	}
	maps.Copy(t.deleted, o.deleted)
	for id, a := range o.archived {
		t.archive(id, a)
	}
	for id, at := range o.pruned {
		t.pruned[id] = max(t.pruned[id], at)
	}
	for id, p := range o.pins {
		t.pin(id, p)
	}
}

func (t *truth) archive(id checkpoint.ID, a ledger.Archival) {
	if had, ok := t.archived[id]; !ok || a.Clock > had.Clock || a.Clock == had.Clock && a.Reason > had.Reason {
		t.archived[id] = a
	}
}

func (t *truth) pin(id checkpoint.ID, p ledger.Pin) {
	had, ok := t.pins[id]
	switch {
	case !ok, p.Clock > had.Clock:
		t.pins[id] = p
	case p.Clock == had.Clock:
		t.pins[id] = ledger.Pin{On: p.On && had.On, Clock: p.Clock}
	}
}

// checkEnd compares the final state of all clones and remotes with the truth.
func (w *world) checkEnd() {
	all := newTruth()
	for _, c := range w.clones {
		if !c.dead {
			all.add(c.knows)
		}
	}
	for _, r := range w.remotes {
		all.add(r.knows)
	}
	var end *chain
	for _, c := range w.clones {
		switch {
		case c.dead:
		case end == nil:
			end = c.public
		case c.public == nil || c.public.tip != end.tip:
			w.violate("%s has another tip than the others", c.name)
		}
	}
	for _, r := range w.remotes {
		if end != nil && (r.ref == nil || r.ref.tip != end.tip) {
			w.violate("%s has another tip than the clones", r.name)
		}
	}
	if end == nil {
		end = &chain{state: MergeStates()}
	}
	w.checkLive(end, all)
	w.checkDead(end, all)
	w.checkArchives(end, all)
	w.checkPins(end, all)
	w.checkOrder(end)
}

// checkLive checks that no live checkpoint is lost.
func (w *world) checkLive(end *chain, all *truth) {
	for id, tree := range all.live {
		_, pruned := w.gone.pruned[id]
		switch cp, there := end.state.Checkpoints[id]; {
		case w.doubt[id], all.deleted[id], all.isArchived(id):
		case !there && !pruned:
			w.violate("%s is lost", id)
		case !there && all.pins[id].On && all.pins[id].Clock > 0:
			w.violate("%s is lost though it is pinned", id)
		case there && cp.Tree != tree:
			w.violate("%s has another content", id)
		}
	}
}

// checkDead checks that removed checkpoints stay removed, and that only removed
// checkpoints are missing.
func (w *world) checkDead(end *chain, all *truth) {
	newest := checkpoint.Clock(0)
	for _, c := range w.clones {
		for _, at := range c.knows.pruned {
			newest = max(newest, at)
		}
		newest = max(newest, c.public.newestEver(), c.own.newestEver())
	}
	for id := range all.live { // archived and dropped checkpoints expired lines too
		newest = max(newest, w.clocks[id])
	}
	for id := range end.state.Checkpoints {
		at, pruned := all.pruned[id]
		switch {
		case !w.saved[id]:
			w.violate("nobody saved %s", id)
		case all.deleted[id]:
			w.violate("%s was deleted and is back", id)
		case all.isArchived(id):
			w.violate("%s was archived and is back", id)
		case pruned && !all.pins[id].On && at >= newest-30*day && !w.doubt[id]:
			w.violate("%s was pruned and is back", id)
		}
	}
	for id := range end.ledger().Deleted {
		if !w.gone.deleted[id] {
			w.violate("nobody deleted %s", id)
		}
	}
	for id := range all.deleted {
		if !end.ledger().Deleted[id] {
			w.violate("it is forgotten that %s was deleted", id)
		}
	}
	for id := range end.ledger().Archived {
		if !w.gone.isArchived(id) {
			w.violate("nobody archived %s", id)
		}
	}
	for id, a := range all.archived {
		if !all.deleted[id] && !w.doubt[id] && end.ledger().Archived[id] != a {
			w.violate("%s was archived as %v, and it says %v", id, a, end.ledger().Archived[id])
		}
	}
	for id := range end.ledger().Pruned {
		if _, ok := w.gone.pruned[id]; !ok {
			w.violate("nobody pruned %s", id)
		}
	}
}

func (c *chain) newestEver() checkpoint.Clock {
	if c == nil {
		return 0
	}
	newest := c.ledger().NewestPruned()
	for _, cp := range c.state.Checkpoints {
		newest = max(newest, cp.Clock)
	}
	return newest
}

// checkPins checks that each checkpoint has its newest pin, "off" on a tie.
func (w *world) checkPins(end *chain, all *truth) {
	for id, p := range all.pins {
		if !all.deleted[id] && !w.doubt[id] && end.ledger().Pins[id] != p {
			w.violate("the pin of %s is %v instead of %v", id, end.ledger().Pins[id], p)
		}
	}
}

// checkOrder checks that a chain is sorted by clock, and that each checkpoint comes after
// its ancestors at the save.
func (w *world) checkOrder(end *chain) {
	for k := 1; k < len(end.order); k++ {
		a, b := end.order[k-1], end.order[k]
		if x, y := end.state.Checkpoints[a].Clock, end.state.Checkpoints[b].Clock; x > y || x == y && a > b {
			w.violate("%s stands before %s", a, b)
		}
	}
	at := map[checkpoint.ID]int{}
	for k, id := range end.order {
		at[id] = k
	}
	for k, id := range end.order {
		for _, below := range w.on[id] {
			if at[below] > k {
				w.violate("%s was saved on top of %s and stands below it", id, below)
			}
		}
	}
}
