package list

import (
	"fmt"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// showTimelines prints lists as timelines for people.
func showTimelines(c *invoke.Invocation, o *listOptions, at view.Screen, lists []*gitstore.List, keep func(*gitstore.Checkpoint) bool) {
	var shown [][]view.Entry
	folded := ""
	for _, l := range lists {
		if len(l.Checkpoints) == 0 {
			continue
		}
		if len(shown) > 0 {
			c.Printf("\n")
		}
		picked := pick(c, o, l, keep)
		o.tellNoTurns(c, l, picked)
		rows := view.Singles(picked)
		if o.trigger == "" && !c.Line.Common.Verbose {
			rows = view.Runs(l.Checkpoints, picked) // a run of automatic checkpoints has one row
		}
		if len(rows) < len(picked) {
			folded = view.IssueArg(l.Issue)
		}
		entries := o.entries(c, l, rows)
		head := view.Plural(len(picked), "checkpoint")
		if n := len(l.Checkpoints); !l.Complete {
			head = "the newest " + head
		} else if n > len(picked) {
			head += fmt.Sprintf(" of %d", n)
		}
		c.Printf("%s\n", at.Heading("Issue "+string(l.Issue)+": "+head))
		if text := view.ForkText(o.fork(c, l)); text != "" {
			c.Printf("%s\n", view.Clean(text))
		}
		if len(entries) > 0 {
			c.Printf("\n%s", at.Timeline(entries, c.Env.Now()))
		}
		if rows := view.ParallelRows(o.notHere(c, l), c.Env.Now()); len(rows) > 0 {
			c.Printf("\n%s", at.Sheet(rows))
		}
		shown = append(shown, entries)
	}
	c.Printf("%s", at.Legend(shown...))
	if folded != "" {
		c.Printf("\nAutomatic checkpoints that follow each other have one line.\nhint: git checkpoint list %s --verbose\n", folded)
	}
	if n := len(lists) - len(shown); n > 0 {
		c.Printf("\n%s with nothing but an archive, or nothing left\nhint: git checkpoint list --all --archived\n", view.Plural(n, "issue"))
	}
}

// entries returns the entries of rows. Records and files of the first rows are read: the rest
// would take long.
func (o *listOptions) entries(c *invoke.Invocation, l *gitstore.List, rows [][]int) []view.Entry {
	bare := view.Entries{Me: c.Store.Author(), Now: c.Env.Now()}
	bare.Lineage = func(l *gitstore.List) *gitstore.Lineage { return c.Store.Lineage(c.Ctx, l) }
	if o.remote.Given() || c.Store.Facts.Partial() {
		return bare.Of(l, rows)
	}
	whole, read := bare, min(len(rows), verifiedRecords)
	whole.Totals = func(pairs []gitstore.Pair) []*gitstore.Totals { return c.Store.Files.TotalsOf(c.Ctx, pairs) }
	whole.Record = func(cp *gitstore.Checkpoint) *checkpoint.Record {
		r, _ := c.Store.Record(cp)
		return r
	}
	if o.turns {
		whole.Agent = func(session string) string { return work.AgentOf(c, session) }
		whole.Files = func(l *gitstore.Lineage, i int) []string { return work.ChangedBy(c.Store, l, i) }
		read = len(rows)
	}
	return append(whole.Of(l, rows[:read]), bare.Of(l, rows[read:])...)
}

// plainEntries returns the entries for scripts, one for each checkpoint. Without --turns they have
// neither changes nor sessions.
func (o *listOptions) plainEntries(c *invoke.Invocation, l *gitstore.List, picked []int) []view.Entry {
	if o.turns {
		return o.entries(c, l, view.Singles(picked))
	}
	return view.Entries{Me: c.Store.Author(), Now: c.Env.Now()}.Of(l, view.Singles(picked))
}
