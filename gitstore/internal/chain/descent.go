package chain

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// A Descent finds the parents of the checkpoints of a chain by their trailers Checkpoint-After. A missing
// parent is replaced by its own parents, if trailers or the ledger name them.
type Descent struct {
	Chain *Chain
	List  []*ChainCommit        // valid checkpoints, newest first
	At    map[checkpoint.ID]int // index in List

	order *ancestry
}

// Descent returns the descent of the checkpoints that were read. Archived checkpoints count as missing,
// with known parents.
func (c *Chain) Descent(archive *Chain) *Descent {
	d := &Descent{Chain: c, order: c.ancestry(), At: map[checkpoint.ID]int{}}
	for id, l := range archive.Index() {
		if d.order.known[id] == nil {
			d.order.known[id] = l
		}
	}
	for i := range c.Commits {
		if l := &c.Commits[i]; c.isListed(i) && l.Valid() {
			d.At[l.ID] = len(d.List)
			d.List = append(d.List, l)
		}
	}
	return d
}

// Parents returns the indexes of the parents of the checkpoint at an index, see Descent.Parents. A
// merge of parallel work has several parents, the first checkpoint has none.
func (l *List) Parents(at int) (parents []int) {
	if l.descent == nil {
		l.descent = l.chain.Descent(&Chain{})
	}
	d, older := l.descent, l.Checkpoints[at+1:]
	i, ok := d.At[l.Checkpoints[at].ID]
	if !ok || d.List[i].Commit != l.Checkpoints[at].Commit {
		return nil
	}
	for _, k := range d.Parents(i) {
		if n := slices.IndexFunc(older, func(c Checkpoint) bool { return c.Commit == d.List[k].Commit }); n >= 0 {
			parents = append(parents, at+1+n)
		}
	}
	return parents
}

// Parents returns the nearest present ancestors of the checkpoint at an index. If it has no known
// ancestor, but the parents of a missing ancestor are unknown, the result is the next older checkpoint.
func (d *Descent) Parents(at int) []int {
	after, _ := d.List[at].CameAfter()
	return d.parents(after, at)
}

// Before is Parents of a checkpoint of any chain with the parent id, among the checkpoints with an older
// clock.
func (d *Descent) Before(id checkpoint.ID, clock checkpoint.Clock) []int {
	older := len(d.List)
	for older > 0 && d.List[older-1].Clock < clock {
		older--
	}
	return d.parents([]checkpoint.ID{id}, older-1)
}

func (d *Descent) parents(after []checkpoint.ID, older int) []int {
	parents := d.Nearest(after, older)
	if len(parents) == 0 && older+1 < len(d.List) && d.order.lineage(after...).unknown > 0 {
		return []int{older + 1}
	}
	return parents
}

// Nearest returns the checkpoints with these ids, in this order. A missing checkpoint is replaced by its
// nearest present ancestors. An ancestor of another result is left out, except for the first id: a
// worktree that went back has the files of an older checkpoint. Only checkpoints older than the one at an
// index count, or all for -1: if the parents of a missing checkpoint are only known from the trailer of a
// later one, they can include newer checkpoints.
func (d *Descent) Nearest(ids []checkpoint.ID, older int) (found []int) {
	seen := map[checkpoint.ID]bool{}
	var visit func(id checkpoint.ID)
	visit = func(id checkpoint.ID) {
		if at, ok := d.At[id]; ok {
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
	found = without(found, first, func(at, other int) bool { // quick: the other trailer names it
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

// without removes each element that is in another remaining element. The first elements are compared
// only with each other.
func without[T comparable](list []T, first int, isIn func(at, other T) bool) []T {
	stays := slices.Clone(list)
	for k, at := range slices.Backward(list) {
		others := stays
		if k < first {
			others = list[:first]
		}
		if slices.ContainsFunc(others, func(other T) bool {
			return other != at && slices.Contains(stays, other) && isIn(at, other)
		}) {
			stays = slices.DeleteFunc(stays, func(other T) bool { return other == at })
		}
	}
	return stays
}
