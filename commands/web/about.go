package web

import (
	"context"
	"sync"

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
		Agent:   v.repo.Agent,
		Files:   v.filesWithoutRequest,
		Lineage: func(l *gitstore.List) *gitstore.Lineage { return v.repo.Store.Lineage(v.ctx, l) },
		Totals:  func(pairs []gitstore.Pair) []*gitstore.Totals { return v.changes.of(v.ctx, v.repo.Store, pairs) },
	}
}

// filesWithoutRequest returns the changed files of a turn without a request, otherwise nil.
func (v *visit) filesWithoutRequest(l *gitstore.Lineage, i int) []string {
	if l.List.Checkpoints[i].Note != "" {
		return nil
	}
	return work.ChangedBy(v.repo.Store, l, i)
}

// entry returns the entry of a single checkpoint without its change.
func (v *visit) entry(at place) TimelineEntry {
	e := v.entries().Single(at.list, at.at)
	return v.pager("").entry(&e)
}

// maxCounted limits the cached counts.
const maxCounted = 20_000

// counted caches the numbers of changed lines between two commits, which never change.
type counted struct {
	mu   sync.Mutex
	kept map[[2]string]*gitstore.Totals
}

// of returns the changes of pairs of checkpoints in order.
func (c *counted) of(ctx context.Context, s *gitstore.Store, pairs []gitstore.Pair) []*gitstore.Totals {
	changes := make([]*gitstore.Totals, len(pairs))
	var missing []gitstore.Pair
	var at []int
	for k, p := range pairs {
		var ok bool
		if changes[k], ok = c.get(p); !ok {
			missing, at = append(missing, p), append(at, k)
		}
	}
	for k, t := range s.Totals(ctx, missing) {
		changes[at[k]] = t
		c.put(missing[k], t)
	}
	return changes
}

func keyOf(p gitstore.Pair) (key [2]string) {
	key[1] = p.To.Commit.String()
	if p.From != nil {
		key[0] = p.From.Commit.String()
	}
	return key
}

func (c *counted) get(p gitstore.Pair) (*gitstore.Totals, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.kept[keyOf(p)]
	return found, ok
}

func (c *counted) put(p gitstore.Pair, found *gitstore.Totals) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= maxCounted {
		c.kept = map[[2]string]*gitstore.Totals{}
	}
	c.kept[keyOf(p)] = found
}
