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

// Descent returns the descent of the checkpoints that were read.
func (c *Chain) Descent() *Descent {
	d := &Descent{Chain: c, order: c.ancestry(), at: map[checkpoint.ID]int{}}
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
// are gone, and nothing names what those came after, it is the newest older checkpoint that can be one
// of them.
func (d *Descent) Parents(at int) []int {
	after, _ := d.List[at].CameAfter()
	parents := d.Nearest(after)
	if len(parents) > 0 || len(after) == 0 {
		return parents
	}
	line := d.order.lineage(after...)
	for k := at + 1; k < len(d.List); k++ {
		if !line.Lacks(&d.List[k].Checkpoint) {
			return []int{k}
		}
	}
	return nil
}

// Nearest returns the checkpoints with these ids, in this order. A checkpoint that is gone is replaced
// by those that it came after. Checkpoints that another one of the result came after are left out.
func (d *Descent) Nearest(ids []checkpoint.ID) (found []int) {
	seen := map[checkpoint.ID]bool{}
	var visit func([]checkpoint.ID)
	visit = func(ids []checkpoint.ID) {
		for _, id := range ids {
			if seen[id] {
				continue
			}
			seen[id] = true
			if at, ok := d.at[id]; ok {
				found = append(found, at)
				continue
			}
			more, _ := d.order.after(id)
			visit(more)
		}
	}
	visit(ids)
	found = without(found, func(at, other int) bool { // quick: an id is in the trailer of the other one
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
	return without(found, func(at, other int) bool { return lines[other].ids[d.List[at].ID] })
}

// without removes the elements that are in another one that stays.
func without(list []int, isIn func(at, other int) bool) []int {
	for k := 0; k < len(list); {
		at := list[k]
		if slices.ContainsFunc(list, func(other int) bool { return other != at && isIn(at, other) }) {
			list = slices.Delete(list, k, k+1)
		} else {
			k++
		}
	}
	return list
}
