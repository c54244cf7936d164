package join

import (
	"cmp"
	"maps"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
)

// A truth holds all members and facts that a clone or remote must know: local operations and the
// results of syncs. Truths only grow. They read the text of ledgers, and decide precedence by code
// that is independent of the merge.
type truth struct {
	live map[Member]bool
	set  map[string]bool     // set facts, as in the ledger
	last map[string]lastFact // last facts, by kind, id and name
}

type lastFact struct {
	value string
	clock checkpoint.Clock
}

func newTruth() *truth { return &truth{map[Member]bool{}, map[string]bool{}, map[string]lastFact{}} }

// truthOf returns the facts of a chain.
func truthOf(c *chain) *truth {
	t := newTruth()
	if c == nil {
		return t
	}
	for m := range c.state.Members {
		t.live[m] = true
	}
	t.note(c.ledger())
	return t
}

// note adds the facts of a ledger.
func (t *truth) note(l *ledger.Ledger) {
	for line := range strings.Lines(string(l.Encode())) {
		f := strings.Fields(line)
		if f[0] == "set" {
			t.set[strings.Join(f[1:], " ")] = true
			continue
		}
		clock, _ := checkpoint.ParseClock(f[4])
		name, value, named := strings.Cut(f[3], "=")
		if !named {
			name, value = "", f[3]
		}
		t.put(strings.TrimSpace(f[1]+" "+f[2]+" "+name), lastFact{value, clock})
	}
}

func (t *truth) put(key string, f lastFact) {
	had, ok := t.last[key]
	if !ok || f.clock > had.clock || f.clock == had.clock && f.value < had.value {
		t.last[key] = f
	}
}

// forget removes the facts that an undo takes back.
func (t *truth) forget(id checkpoint.ID) {
	delete(t.last, "archived "+string(id))
	delete(t.last, "reason "+string(id))
	maps.DeleteFunc(t.set, func(line string, _ bool) bool { return strings.HasPrefix(line, "pruned "+string(id)+" ") })
}

func (t *truth) clone() *truth {
	return &truth{maps.Clone(t.live), maps.Clone(t.set), maps.Clone(t.last)}
}

func (t *truth) add(o *truth) {
	maps.Copy(t.live, o.live)
	maps.Copy(t.set, o.set)
	for key, f := range o.last {
		t.put(key, f)
	}
}

// values returns the first values of the set facts of a kind about an id.
func (t *truth) values(kind string, id checkpoint.ID) (values []string) {
	for line := range t.set {
		if f := strings.Fields(line); f[0] == kind && f[1] == string(id) {
			values = append(values, f[2])
		}
	}
	return values
}

func (t *truth) deletes(m Member) bool {
	for _, content := range t.values("deleted", m.ID) {
		if content == "*" || content == m.Content {
			return true
		}
	}
	return false
}

// pruned returns the newest clock of the pruned facts about an id.
func (t *truth) pruned(id checkpoint.ID) (newest checkpoint.Clock, is bool) {
	for _, text := range t.values("pruned", id) {
		clock, _ := checkpoint.ParseClock(text)
		newest, is = max(newest, clock), true
	}
	return newest, is
}

func (t *truth) isOn(kind string, id checkpoint.ID) bool {
	return t.last[kind+" "+string(id)].value == "1"
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
	w.checkFacts(end, all)
	w.checkArchives(end, all)
	w.checkOrder(end)
}

// checkLive checks that no live member is lost: no content that was seen somewhere, whatever a
// stranger has put under its id. A stranger's pin does not bring back what was pruned before.
func (w *world) checkLive(end *chain, all *truth) {
	for m := range all.live {
		_, pruned := w.gone.pruned(m.ID)
		switch there := end.has(m); {
		case there, w.doubt[m.ID], all.deletes(m), all.isOn("archived", m.ID):
		case !pruned:
			w.violate("%s is lost", m)
		case all.isOn("pin", m.ID) && !w.hostile:
			w.violate("%s is lost though it is pinned", m)
		}
	}
}

// checkDead checks that removed checkpoints stay removed.
func (w *world) checkDead(end *chain, all *truth) {
	newest := checkpoint.Clock(0)
	for _, c := range w.clones {
		newest = max(newest, c.public.newestEver(), c.own.newestEver())
		for line := range c.knows.set {
			at, _ := c.knows.pruned(checkpoint.ID(strings.Fields(line)[1]))
			newest = max(newest, at)
		}
	}
	for m := range all.live { // archived and dropped checkpoints expired lines too
		newest = max(newest, w.clocks[m.ID])
	}
	for m := range end.state.Members {
		at, pruned := all.pruned(m.ID)
		switch {
		case !w.saved[m.ID]:
			w.violate("nobody saved %s", m)
		case all.deletes(m):
			w.violate("%s was deleted and is back", m)
		case all.isOn("archived", m.ID):
			w.violate("%s was archived and is back", m)
		case pruned && !all.isOn("pin", m.ID) && at >= newest-30*day && !w.doubt[m.ID] && !w.hostile:
			w.violate("%s was pruned and is back", m)
		}
	}
}

// checkFacts checks that the end has every fact, and no fact that nobody wrote.
func (w *world) checkFacts(end *chain, all *truth) {
	has := newTruth()
	has.note(end.ledger())
	for line := range has.set {
		if !w.gone.set[line] {
			w.violate("nobody wrote %q", line)
		}
	}
	for line := range all.set {
		if !has.set[line] && !strings.HasPrefix(line, "pruned ") {
			w.violate("it is forgotten: %s", line)
		}
	}
	for key, f := range all.last {
		if id := checkpoint.ID(strings.Fields(key)[1]); has.last[key] != f && !w.doubt[id] {
			w.violate("%s is %v instead of %v", key, has.last[key], f)
		}
	}
}

func (c *chain) newestEver() checkpoint.Clock {
	if c == nil {
		return 0
	}
	newest := c.ledger().NewestPruned()
	for _, cp := range c.state.Members {
		newest = max(newest, cp.Clock)
	}
	return newest
}

// checkOrder checks that each member stands after its After members, outside of cycles. Two members
// that stand side by side are sorted by clock, id and content, or one came after the other.
func (w *world) checkOrder(end *chain) {
	direct := end.cameAfter()
	all := closure(direct, func(_, _ Member) bool { return true })
	before := closure(direct, func(m, o Member) bool { return !all[o][m] }) // without the edges of cycles
	for k, b := range end.order {
		for _, a := range end.order[:k] {
			if before[a][b] {
				w.violate("%s stands before %s, which it came after", a, b)
			}
		}
		if k == 0 {
			continue
		}
		a := end.order[k-1]
		x, y := end.state.Members[a], end.state.Members[b]
		if cmp.Or(cmp.Compare(x.Clock, y.Clock), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Content, b.Content)) >= 0 && !before[b][a] {
			w.violate("%s stands before %s", a, b)
		}
	}
}

// cameAfter returns the members that each member came after. An id that only a fact describes is a
// member without a content.
func (c *chain) cameAfter() map[Member][]Member {
	byID, direct := map[checkpoint.ID][]Member{}, map[Member][]Member{}
	for m := range c.state.Members {
		byID[m.ID] = append(byID[m.ID], m)
	}
	var add func(m Member, after []checkpoint.ID)
	add = func(m Member, after []checkpoint.ID) {
		for _, id := range after {
			if id == m.ID {
				continue
			}
			found := byID[id]
			if found == nil {
				missing := Member{ID: id}
				found = []Member{missing}
				if _, known := direct[missing]; !known {
					direct[missing] = nil
					then, _ := c.ledger().After(id)
					add(missing, then)
				}
			}
			direct[m] = append(direct[m], found...)
		}
	}
	for m, stored := range c.state.Members {
		var after []checkpoint.ID
		for _, word := range strings.Fields(stored.After) {
			after = append(after, checkpoint.ID(word))
		}
		add(m, after)
	}
	return direct
}

// closure returns the members that can be reached from each member over edges that keep accepts.
func closure(direct map[Member][]Member, keep func(m, o Member) bool) map[Member]map[Member]bool {
	all := map[Member]map[Member]bool{}
	for start := range direct {
		found := map[Member]bool{}
		for todo := []Member{start}; len(todo) > 0; {
			m := todo[0]
			todo = todo[1:]
			for _, o := range direct[m] {
				if !found[o] && keep(m, o) {
					found[o] = true
					todo = append(todo, o)
				}
			}
		}
		all[start] = found
	}
	return all
}
