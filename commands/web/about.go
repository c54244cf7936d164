package web

import (
	"context"
	"sync"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// An about holds the record and the changes of a checkpoint for its row.
type about struct {
	record records
	change Change // since the checkpoint of the same branch before it
}

// A records is the record of a checkpoint and of the checkpoint before it; both can be nil.
type records struct{ own, before *checkpoint.Record }

// abouts holds the rows of a page by commit in hex. A run has an entry of its own, because
// its change differs from that of its newest checkpoint.
type abouts map[string]about

func keyOfRun(newest *gitstore.Checkpoint) string { return "run " + newest.Commit.String() }

// run returns the change of a whole run.
func (a abouts) run(l *gitstore.List, run []int) Change {
	return a[keyOfRun(&l.Checkpoints[run[0]])].change
}

// abouts returns what rows show of their checkpoints, or nothing without a repository.
func (v pager) abouts(l *gitstore.List, runs [][]int) abouts {
	if v.about == nil {
		return nil
	}
	return v.about(l, runs)
}

// before returns the checkpoint of the same branch before index i. It returns nil and true
// if there is none, and nil and false if it was not read.
func before(l *gitstore.List, i int) (*gitstore.Checkpoint, bool) {
	for k := i + 1; k < len(l.Checkpoints); k++ {
		if c := &l.Checkpoints[k]; c.Branch == l.Checkpoints[i].Branch && c.Valid() {
			return c, true
		}
	}
	return nil, l.Complete
}

// about reads the records and counts the changes of rows. Errors leave values unknown: a
// timeline shows broken checkpoints too.
func (v *visit) about(l *gitstore.List, runs [][]int) abouts {
	found := abouts{}
	var wanted []string
	var pairs []gitstore.Pair
	count := func(key string, to *gitstore.Checkpoint, oldest int) {
		if from, ok := before(l, oldest); ok && to.Valid() {
			wanted, pairs = append(wanted, key), append(pairs, gitstore.Pair{From: from, To: to})
		}
	}
	memory := map[string]*checkpoint.Record{}
	for _, run := range runs {
		for _, i := range run {
			c := &l.Checkpoints[i]
			found[c.Commit.String()] = about{record: v.recordsOf(l, i, memory)}
			count(c.Commit.String(), c, i)
		}
		if newest := &l.Checkpoints[run[0]]; len(run) > 1 {
			count(keyOfRun(newest), newest, run[len(run)-1])
		}
	}
	for k, c := range v.changes.of(v.ctx, v.repo.Store, pairs) {
		a := found[wanted[k]]
		a.change = c
		found[wanted[k]] = a
	}
	return found
}

// recordsOf returns the records that the title of a checkpoint needs. A checkpoint with a note
// needs no record.
func (v *visit) recordsOf(l *gitstore.List, i int, memory map[string]*checkpoint.Record) (r records) {
	c := &l.Checkpoints[i]
	if c.Note != "" || !c.Valid() {
		return r
	}
	if r.own = v.remembered(c, memory); r.own == nil || i+1 == len(l.Checkpoints) || r.own.Doc().Text("context_summary") == "" {
		return r
	}
	r.before = v.remembered(&l.Checkpoints[i+1], memory)
	return r
}

// remembered returns the record of a checkpoint, or nil if it cannot be read.
func (v *visit) remembered(c *gitstore.Checkpoint, memory map[string]*checkpoint.Record) *checkpoint.Record {
	r, ok := memory[c.Commit.String()]
	if !ok {
		r, _ = v.repo.Record(c)
		memory[c.Commit.String()] = r
	}
	return r
}

// entry returns the entry of a single checkpoint.
func (v *visit) entry(at place) TimelineEntry {
	c := at.checkpoint()
	return v.pager("").entry(c, at.at == 0, v.recordsOf(at.list, at.at, map[string]*checkpoint.Record{}))
}

// maxCounted limits the cached counts.
const maxCounted = 20_000

// counted caches the numbers of changed lines between two commits, which never change.
type counted struct {
	mu   sync.Mutex
	kept map[[2]string]Change
}

// of returns the changes of pairs of checkpoints in order.
func (c *counted) of(ctx context.Context, s *gitstore.Store, pairs []gitstore.Pair) []Change {
	changes := make([]Change, len(pairs))
	var missing []gitstore.Pair
	var at []int
	for k, p := range pairs {
		var ok bool
		if changes[k], ok = c.get(p); !ok {
			missing, at = append(missing, p), append(at, k)
		}
	}
	for k, t := range s.Totals(ctx, missing) {
		if t != nil {
			changes[at[k]] = Change{Known: true, Files: t.Files, Added: t.Added, Deleted: t.Deleted}
		}
		c.put(missing[k], changes[at[k]])
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

func (c *counted) get(p gitstore.Pair) (Change, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.kept[keyOf(p)]
	return found, ok
}

func (c *counted) put(p gitstore.Pair, found Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= maxCounted {
		c.kept = map[[2]string]Change{}
	}
	c.kept[keyOf(p)] = found
}
