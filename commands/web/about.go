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
	return view.Entries{
		Me: v.repo.Author(), Now: v.o.Now(),
		Record: func(c *gitstore.Checkpoint) *checkpoint.Record {
			r, _ := v.repo.Record(c)
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
		Totals:  func(pairs []gitstore.Pair) []*gitstore.Totals { return v.repo.Files.TotalsOf(v.ctx, pairs) },
	}
}

// entry returns the entry of a single checkpoint without its change.
func (v *visit) entry(at place) *TimelineEntry {
	of := v.entries().Single(at.list, at.at)
	e := v.pager("").entry(&of)
	return &e
}
