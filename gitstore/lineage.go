package gitstore

import (
	"context"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// A Lineage finds the checkpoints that the files of the checkpoints in a list came from. The list
// has the newest checkpoint first.
type Lineage struct {
	List *List

	former func(branch string) []string // former names of a branch, nil function: not known
	names  map[string][]string
	byID   map[checkpoint.ID][]int // indexes of the checkpoints of an id
}

// Lineage returns the lineage of a list, in which renamed branches are followed.
func (s *Store) Lineage(ctx context.Context, l *List) *Lineage {
	return &Lineage{List: l, former: func(branch string) (names []string) {
		for _, n := range s.Facts.FormerNames(ctx, branch) {
			names = append(names, RecordedBranch(n.Name))
		}
		return names
	}}
}

// Before returns the valid checkpoint that the files of the checkpoint at an index came from: on
// the same branch the one that was saved or restored last in its worktree, otherwise the one
// before it. If there is no such checkpoint, it returns nil: the files came from HEAD at the save.
// This is not known if the list does not reach back to the first checkpoint.
func (l *Lineage) Before(i int) (from *Checkpoint, known bool) {
	at, known := l.before(i)
	if at < 0 {
		return nil, known
	}
	return &l.List.Checkpoints[at], true
}

func (l *Lineage) before(i int) (at int, known bool) {
	all := l.List.Checkpoints
	if l.byID == nil {
		l.byID = map[checkpoint.ID][]int{}
		for k := range all {
			l.byID[all[k].ID] = append(l.byID[all[k].ID], k)
		}
	}
	isBefore := func(k int) bool { return k > i && all[k].Valid() && l.isSameBranch(&all[i], &all[k]) }
	after, _ := all[i].CameAfter()
	for _, id := range after { // a later id of the trailer is further back
		if found := slices.IndexFunc(l.byID[id], isBefore); found >= 0 {
			return l.byID[id][found], true
		}
	}
	for at = i + 1; at < len(all); at++ {
		if isBefore(at) {
			return at, true
		}
	}
	return -1, l.List.Complete
}

// isSameBranch reports whether two checkpoints are of one branch, which can have been renamed after
// the older one.
func (l *Lineage) isSameBranch(newer, older *Checkpoint) bool {
	if newer.Branch == older.Branch {
		return true
	}
	if l.former == nil {
		return false
	}
	names, known := l.names[newer.Branch]
	if !known {
		if l.names == nil {
			l.names = map[string][]string{}
		}
		names = l.former(newer.Branch)
		l.names[newer.Branch] = names
	}
	return slices.Contains(names, older.Branch)
}

// To returns the indexes of the checkpoint at an index and of those that its files came from,
// newest first. An index of -1 is no checkpoint.
func (l *Lineage) To(at int) (indexes []int) {
	for at >= 0 {
		indexes = append(indexes, at)
		at, _ = l.before(at)
	}
	return indexes
}
