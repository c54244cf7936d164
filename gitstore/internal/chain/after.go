package chain

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/ledger"
)

// A checkpoint names the checkpoints that its worktree came after at the save:
//
//	Checkpoint-After: <id>...
//	Checkpoint-After: none
//
// These are the checkpoints of Here.Heads, followed by those that the first of them names. So the
// order survives the drop of some of them.
func encodeAfter(after []checkpoint.ID) string {
	if len(after) == 0 {
		return join.None
	}
	words := make([]string, min(len(after), checkpoint.MaxAfter))
	for i := range words {
		words[i] = string(after[i])
	}
	return strings.Join(words, " ")
}

// CameAfter returns the ids in the trailer. ok is false if they are unknown.
func (c *Checkpoint) CameAfter() (ids []checkpoint.ID, ok bool) {
	if c.After == join.None {
		return nil, true
	}
	ids, err := parseIDs(c.After)
	return ids, err == nil
}

// parseIDs parses up to checkpoint.MaxAfter ids that are separated by one space.
func parseIDs(value string) (ids []checkpoint.ID, err error) {
	for word := range strings.SplitSeq(value, " ") {
		id, err := checkpoint.ParseID(word)
		if err == nil && len(ids) == checkpoint.MaxAfter {
			err = fmt.Errorf("more than %d ids", checkpoint.MaxAfter)
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// After returns the trailer's ids for a save after heads, which are the checkpoints of its
// worktree.
func (c *Chain) After(heads []checkpoint.ID) []checkpoint.ID {
	var more []checkpoint.ID
	if len(heads) > 0 {
		if first := c.Find(heads[0]); first != nil {
			more, _ = first.CameAfter()
		}
	}
	after := distinct(slices.Concat(heads, more))
	return after[:min(len(after), checkpoint.MaxAfter)]
}

// distinct returns the ids in their order, each once.
func distinct(ids []checkpoint.ID) (list []checkpoint.ID) {
	for _, id := range ids {
		if !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

// An ancestry is the order of the checkpoints of a chain.
type ancestry struct {
	known  map[checkpoint.ID]*ChainCommit
	gone   map[checkpoint.ID][]checkpoint.ID // missing checkpoints, with those named after them
	ledger *ledger.Ledger
}

func (c *Chain) ancestry() *ancestry {
	a := &ancestry{c.Index(), map[checkpoint.ID][]checkpoint.ID{}, c.Ledger}
	for i := range c.Commits {
		after, _ := c.Commits[i].CameAfter()
		for k := 0; k+1 < len(after); k++ {
			if id := after[k]; a.known[id] == nil && a.gone[id] == nil {
				a.gone[id] = after[k+1:]
			}
		}
	}
	return a
}

// after returns the checkpoints that a checkpoint came after. ok is false if they are unknown.
func (a *ancestry) after(id checkpoint.ID) (after []checkpoint.ID, ok bool) {
	if commit := a.known[id]; commit != nil {
		return commit.CameAfter()
	}
	if a.ledger != nil {
		if after, ok := a.ledger.After(id); ok {
			return after, true
		}
	}
	return a.gone[id], a.gone[id] != nil
}

// A Lineage is a set of checkpoints of a chain with all checkpoints that they came after.
type Lineage struct {
	ids     map[checkpoint.ID]bool
	unknown checkpoint.Clock // it is unknown whether older checkpoints belong to the set
}

// Lineage returns the lineage of checkpoints of the chain. A missing checkpoint without a fact about
// its After ids makes the lineage unknown below that checkpoint. Clocks tell which checkpoints are
// below it.
func (c *Chain) Lineage(heads ...checkpoint.ID) *Lineage { return c.ancestry().lineage(heads...) }

func (a *ancestry) lineage(heads ...checkpoint.ID) *Lineage {
	l := &Lineage{ids: map[checkpoint.ID]bool{}}
	type step struct {
		id checkpoint.ID
		of checkpoint.Clock // clock of a known checkpoint after it
	}
	var next []step
	for _, id := range heads {
		next = append(next, step{id, math.MaxInt64})
	}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		if l.ids[at.id] {
			continue
		}
		l.ids[at.id] = true
		after, ok := a.after(at.id)
		if commit := a.known[at.id]; commit != nil {
			at.of = commit.Clock
		}
		if !ok {
			l.unknown = max(l.unknown, at.of)
		}
		for _, id := range after {
			next = append(next, step{id, at.of})
		}
	}
	return l
}

// Has reports whether a checkpoint of the chain belongs to the lineage. ok is false if that is
// unknown.
func (l *Lineage) Has(c *Checkpoint) (has, ok bool) {
	return l.ids[c.ID], l.ids[c.ID] || c.Clock >= l.unknown
}

// Lacks reports whether a checkpoint is known not to belong to the lineage.
func (l *Lineage) Lacks(c *Checkpoint) bool {
	has, ok := l.Has(c)
	return ok && !has
}

const maxParallel = 32

// Parallel returns the checkpoints of the chain that were saved in parallel to heads, newest
// first. A checkpoint is parallel if no head came after it, and if it did not come after all
// heads. Checkpoints with an unknown relation are left out. So are those that are part of a
// returned checkpoint, or of a checkpoint after all heads. heads are the checkpoints of a worktree
// (Here.Heads).
func (c *Chain) Parallel(heads []checkpoint.ID) []Checkpoint {
	a := c.ancestry()
	mine := a.lineage(heads...)
	if len(heads) == 0 || mine.unknown == math.MaxInt64 {
		return nil
	}
	var found []Checkpoint
	var lines []*Lineage
	tried := 0
	for _, cp := range c.Checkpoints() {
		covers := func(l *Lineage) bool { return !l.Lacks(&cp) }
		if cp.ID == "" || !mine.Lacks(&cp) || slices.ContainsFunc(lines, covers) {
			continue
		}
		if tried++; tried > maxParallel {
			break
		}
		line := a.lineage(cp.ID)
		misses := func(id checkpoint.ID) bool { return a.known[id] != nil && line.Lacks(&a.known[id].Checkpoint) }
		if lines = append(lines, line); slices.ContainsFunc(heads, misses) {
			found = append(found, cp)
		}
	}
	return found
}

// Common returns the newest checkpoint of the chain that is in the lineage of both checkpoints,
// or nil if no such checkpoint is known.
func (c *Chain) Common(a, b checkpoint.ID) *Checkpoint {
	order := c.ancestry()
	first, second := order.lineage(a), order.lineage(b)
	for _, cp := range c.Checkpoints() {
		if cp.ID == "" {
			continue
		}
		inFirst, ok := first.Has(&cp)
		inSecond, also := second.Has(&cp)
		switch {
		case inFirst && inSecond:
			return &cp
		case !ok || !also: // this one or an older one
			return nil
		}
	}
	return nil
}

// Reduced returns heads without those that others of them came after. The first one stays.
func (c *Chain) Reduced(heads []checkpoint.ID) []checkpoint.ID {
	a, ids := c.ancestry(), distinct(heads)
	return without(ids, min(1, len(ids)), func(id, other checkpoint.ID) bool { return a.lineage(other).ids[id] })
}
