package chain

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// A Descent finds the checkpoints of a chain that others came after. It passes over checkpoints that
// are gone, as far as trailers and the ledger name what those came after.
type Descent struct {
	Chain *Chain
	List  []*ChainCommit // valid checkpoints, newest first

	order *ancestry
	at    map[checkpoint.ID]int // index in List
}

// Descent returns the descent of the checkpoints that were read. What those of the archive came after
// is known too.
func (c *Chain) Descent(archive *Chain) *Descent {
	d := &Descent{Chain: c, order: c.ancestry(), at: map[checkpoint.ID]int{}}
	for id, l := range archive.Index() {
		if d.order.known[id] == nil {
			d.order.known[id] = l
		}
	}
	for i := range c.Commits {
		if l := &c.Commits[i]; c.isListed(i) && l.Valid() {
			d.at[l.ID] = len(d.List)
			d.List = append(d.List, l)
		}
	}
	return d
}

// Find returns the index of a checkpoint in List.
func (d *Descent) Find(id checkpoint.ID) (at int, ok bool) {
	at, ok = d.at[id]
	return at, ok
}

// Parents returns the nearest checkpoints that the checkpoint at an index came after. If all of them
// are gone, and nothing names what one of those came after, it is the next older checkpoint.
func (d *Descent) Parents(at int) []int {
	after, _ := d.List[at].CameAfter()
	parents := d.nearest(after, at)
	if len(parents) == 0 && at+1 < len(d.List) && !d.isKnown(after, map[checkpoint.ID]bool{}) {
		return []int{at + 1}
	}
	return parents
}

// isKnown reports whether it is known for each of the checkpoints what it came after.
func (d *Descent) isKnown(ids []checkpoint.ID, seen map[checkpoint.ID]bool) bool {
	return !slices.ContainsFunc(ids, func(id checkpoint.ID) bool {
		if seen[id] {
			return false
		}
		seen[id] = true
		var after []checkpoint.ID
		ok := false
		if l := d.order.known[id]; l != nil {
			after, ok = l.CameAfter()
		} else {
			after, ok = d.order.ledger.After(id)
		}
		return !ok || !d.isKnown(after, seen)
	})
}

// Nearest returns the checkpoints with these ids, in this order. A checkpoint that is gone is replaced
// by those that it came after. A checkpoint that another one of the result came after is left out, but
// those for the first id stay: a worktree that went back has the files of an older checkpoint.
func (d *Descent) Nearest(ids []checkpoint.ID) []int { return d.nearest(ids, -1) }

// NearestKnown returns the nearest checkpoints that a checkpoint which is gone came after, older than the
// one at an index. Without exact knowledge there are none.
func (d *Descent) NearestKnown(id checkpoint.ID, older int) []int {
	if ids := []checkpoint.ID{id}; d.isKnown(ids, map[checkpoint.ID]bool{}) {
		return d.nearest(ids, older)
	}
	return nil
}

// nearest is Nearest among the checkpoints that are older than the one at an index. What a checkpoint
// that is gone came after can be known only from a trailer that names other checkpoints behind it.
func (d *Descent) nearest(ids []checkpoint.ID, older int) (found []int) {
	seen := map[checkpoint.ID]bool{}
	var visit func(id checkpoint.ID)
	visit = func(id checkpoint.ID) {
		if at, ok := d.at[id]; ok {
			if at > older && !seen[id] {
				found = append(found, at)
			}
		} else if more, _ := d.order.after(id); !seen[id] {
			seen[id] = true
			for _, id := range more {
				visit(id)
			}
		}
		seen[id] = true
	}
	first := 0
	for n, id := range ids {
		if visit(id); n == 0 {
			first = len(found)
		}
	}
	found = without(found, first, func(at, other int) bool { // quick: the trailer of the other one names it
		after, _ := d.List[other].CameAfter()
		return slices.Contains(after, d.List[at].ID)
	})
	if len(found) < 2 {
		return found
	}
	lines := map[int]*Lineage{}
	for _, at := range found {
		lines[at] = d.order.lineage(d.List[at].ID)
	}
	return without(found, first, func(at, other int) bool { return lines[other].ids[d.List[at].ID] })
}

// without removes the elements that are in another one that stays. The first elements can only be in
// each other.
func without(list []int, first int, isIn func(at, other int) bool) []int {
	stays := slices.Clone(list)
	for k, at := range slices.Backward(list) {
		others := stays
		if k < first {
			others = list[:first]
		}
		if slices.ContainsFunc(others, func(other int) bool {
			return other != at && slices.Contains(stays, other) && isIn(at, other)
		}) {
			stays = slices.DeleteFunc(stays, func(other int) bool { return other == at })
		}
	}
	return stays
}
