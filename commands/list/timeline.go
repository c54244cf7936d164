package list

import (
	"cmp"
	"fmt"
	"slices"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

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

// showGraph prints the checkpoints of an issue and of its forks as a graph: parallel work, joins
// and forks.
func showGraph(c *invoke.Invocation, o *listOptions, issue checkpoint.Issue) error {
	nodes, err := o.graph(c, issue)
	if err != nil {
		return err
	}
	if len(nodes) == 0 {
		return &gitstore.NoneError{Issue: issue}
	}
	nodes = newestFirst(nodes)
	if o.limit > 0 {
		nodes = nodes[:min(o.limit, len(nodes))]
	}
	if c.Line.JSON {
		result := view.CheckpointList{Type: "list", Issue: string(issue), TotalCheckpoints: len(nodes)}
		for _, n := range nodes {
			row := n.Entry.ListRow()
			row.Parents = n.Parents
			result.Checkpoints = append(result.Checkpoints, row)
		}
		return c.WriteJSON(result)
	}
	at, _, err := c.Screen(o.color)
	if err != nil {
		return err
	}
	defer c.Page()()
	if !slices.ContainsFunc(nodes, func(n view.GraphNode) bool { return n.Issue != string(issue) }) {
		for k := range nodes {
			nodes[k].Issue = ""
		}
	}
	c.Printf("%s", at.Graph(nodes, c.Env.Now()))
	return nil
}

// graph returns the nodes of an issue and of its forks.
func (o *listOptions) graph(c *invoke.Invocation, issue checkpoint.Issue) ([]view.GraphNode, error) {
	l, err := c.Store.List(c.Ctx, issue, 0)
	if err != nil {
		return nil, err
	}
	entries := o.entries(c, l, view.Singles(view.All(l)))
	nodes := make([]view.GraphNode, len(entries))
	for i := range entries {
		nodes[i] = view.GraphNode{Entry: &entries[i], ID: l.Checkpoints[i].Name(), Issue: string(issue)}
		for _, k := range l.Parents(i) {
			nodes[i].Parents = append(nodes[i].Parents, l.Checkpoints[k].Name())
		}
	}
	if f := o.fork(c, l); f.ID != "" {
		for i, n := range nodes {
			switch {
			case len(n.Parents) > 0:
			case i == len(nodes)-1:
				nodes[i].Parents = []string{string(f.ID)}
			default: // saved in a worktree of another issue
				nodes[i].Parents = []string{nodes[len(nodes)-1].ID}
			}
		}
	}
	forks, err := c.Store.Forks(c.Ctx, issue)
	if err != nil {
		return nil, err
	}
	for _, fork := range forks {
		more, err := o.graph(c, fork)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, more...)
	}
	return nodes, nil
}

// newestFirst sorts nodes by clock, but never a node above one that came after it: the clocks of
// machines differ.
func newestFirst(nodes []view.GraphNode) []view.GraphNode {
	after := map[string]int{} // number of nodes above that are left
	for _, n := range nodes {
		for _, id := range n.Parents {
			after[id]++
		}
	}
	byClock := func(a, b view.GraphNode) int { return cmp.Compare(a.Entry.Checkpoint.Clock, b.Entry.Checkpoint.Clock) }
	var ready []view.GraphNode // oldest first
	waiting := map[string]view.GraphNode{}
	for _, n := range nodes {
		if waiting[n.ID] = n; after[n.ID] == 0 {
			ready = append(ready, n)
		}
	}
	slices.SortStableFunc(ready, byClock)
	sorted := make([]view.GraphNode, 0, len(nodes))
	for len(ready) > 0 {
		n := ready[len(ready)-1]
		ready, sorted = ready[:len(ready)-1], append(sorted, n)
		for _, id := range n.Parents {
			p, ok := waiting[id]
			if after[id]--; ok && after[id] == 0 {
				at, _ := slices.BinarySearchFunc(ready, p, byClock)
				ready = slices.Insert(ready, at, p)
			}
		}
	}
	return sorted
}
