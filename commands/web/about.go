package web

import (
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// entries returns how this page makes the entries of a timeline. Errors leave values unknown: a
// timeline shows broken checkpoints too.
func (v *visit) entries() view.Entries {
	memory := map[string]*checkpoint.Record{}
	return view.Entries{
		Me: v.repo.Author(), Now: v.o.Now(),
		Record: func(c *gitstore.Checkpoint) *checkpoint.Record {
			r, ok := memory[c.Commit.String()]
			if !ok {
				r, _ = v.repo.Record(c)
				memory[c.Commit.String()] = r
			}
			return r
		},
		Agent: v.repo.Agent,
		Files: func(l *gitstore.Lineage, i int) []string { // of a turn without a request
			if l.List.Checkpoints[i].Note != "" {
				return nil
			}
			return work.ChangedBy(v.repo.Store, l, i)
		},
		Lineage: func(l *gitstore.List) *gitstore.Lineage { return v.repo.Store.Lineage(v.ctx, l) },
		Totals:  v.totals,
	}
}

// entry returns the entry of a single checkpoint without its change.
func (v *visit) entry(at place) *TimelineEntry {
	of := v.entries().Single(at.list, at.at)
	e := v.pager("").entry(&of)
	return &e
}

// maxCounted limits the cached numbers of changed lines, and of checkpoints.
const maxCounted = 20_000

// totals returns the changes of pairs of checkpoints in order. Two commits always have the same
// changes.
func (v *visit) totals(pairs []gitstore.Pair) []*gitstore.Totals {
	changes, keys := make([]*gitstore.Totals, len(pairs)), make([][2]string, len(pairs))
	var missing []gitstore.Pair
	var at []int
	for k, p := range pairs {
		keys[k][1] = p.To.Commit.String()
		if p.From != nil {
			keys[k][0] = p.From.Commit.String()
		}
		var ok bool
		if changes[k], ok = v.changes.get(keys[k]); !ok {
			missing, at = append(missing, p), append(at, k)
		}
	}
	for k, t := range v.repo.Files.TotalsOf(v.ctx, missing) {
		changes[at[k]] = t
		v.changes.put(keys[at[k]], t, maxCounted)
	}
	return changes
}
