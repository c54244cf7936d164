package list

import (
	"cmp"
	"fmt"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// showTimelines prints lists as timelines for people.
func showTimelines(c *invoke.Invocation, o *listOptions, at view.Screen, lists []*gitstore.List, keep func(*gitstore.Checkpoint) bool) {
	var shown [][]view.TimelineEntry
	folded := ""
	for _, l := range lists {
		if len(l.Checkpoints) == 0 {
			continue
		}
		if len(shown) > 0 {
			c.Printf("\n")
		}
		picked := pick(c, o, l, keep)
		rows := o.rows(l, picked)
		if len(rows) < len(picked) {
			folded = view.IssueArg(l.Issue)
		}
		entries := timelineEntries(c, o, l, rows)
		c.Printf("%s\n", at.Heading(timelineHead(l, len(picked))))
		if len(entries) > 0 {
			c.Printf("\n%s", at.Timeline(entries))
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

// rows groups the checkpoints of a list into rows. Runs of automatic checkpoints have one
// row, unless the flags ask for single checkpoints.
func (o *listOptions) rows(l *gitstore.List, picked []int) [][]int {
	if o.trigger == "" && !o.verbose {
		return view.Runs(l.Checkpoints, picked)
	}
	return singles(picked)
}

// timelineHead returns the heading with the number of shown and existing checkpoints.
func timelineHead(l *gitstore.List, shown int) string {
	head := "Issue " + string(l.Issue) + ": "
	switch n := len(l.Checkpoints); {
	case !l.Complete:
		return head + "the newest " + view.Plural(shown, "checkpoint")
	case n > shown:
		return head + view.Plural(shown, "checkpoint") + fmt.Sprintf(" of %d", n)
	}
	return head + view.Plural(shown, "checkpoint")
}

// timelineEntries returns the timeline entries of rows.
func timelineEntries(c *invoke.Invocation, o *listOptions, l *gitstore.List, rows [][]int) []view.TimelineEntry {
	entries := make([]view.TimelineEntry, len(rows))
	now := c.Env.Now()
	read := 0 // rows whose records and files are read: the rest would take long
	if !o.remoteGiven && !c.Store.Partial() {
		read = min(len(rows), verifiedRecords)
	}
	changes := changesOf(c, l, rows[:read])
	for k, row := range rows {
		cp := &l.Checkpoints[row[0]]
		entries[k] = view.TimelineEntry{
			ID: cmp.Or(cp.ID.Short(), cp.Commit.String()[:12]), Phase: cp.Phase,
			Age: view.Ago(cp.Created, now), Brief: view.Briefly(cp.Created, now), Problem: work.ProblemOf(cp),
			Tip: row[0] == 0 && !cp.Archived, Archived: cp.Archived, Filed: string(cp.Filed.Why), Pinned: cp.Pinned, Resumable: cp.Resumable,
			Stale: now.Sub(cp.Created) > freshness.DefaultMaxAge || cp.Created.Sub(now) > freshness.DefaultTolerance,
		}
		entries[k].Title = rowTitle(c, l, row, k < read)
		if k < read {
			entries[k].Change = changes[k].words()
		}
		if len(row) == 1 {
			entries[k].Title += view.ByText(work.OtherAuthor(c, cp))
			if id := turnSession(c, o, cp); id != "" {
				entries[k].Title += ", session " + work.SessionName(c, id)
			}
		}
	}
	return entries
}

// rowTitle returns the title of a row. If here is false, it is made from the commit alone.
func rowTitle(c *invoke.Invocation, l *gitstore.List, row []int, here bool) string {
	cp := &l.Checkpoints[row[0]]
	if len(row) > 1 {
		run := make([]gitstore.Checkpoint, len(row))
		for k, i := range row {
			run[k] = l.Checkpoints[i]
		}
		return strings.TrimSuffix(view.RunTitle(run)+": "+view.FirstLine(cp.Note), ": ")
	}
	var r, before *checkpoint.Record
	if here && cp.Note == "" {
		r, _ = c.Store.Record(cp)
		if older := row[0] + 1; r != nil && r.Doc().Text("context_summary") != "" && older < len(l.Checkpoints) {
			before, _ = c.Store.Record(&l.Checkpoints[older])
		}
	}
	title := view.Title(cp, r, before)
	if cp.Trigger == "" && work.ProblemOf(cp) != "" {
		title = "" // the problem says more
	}
	if cp.LeftOut {
		return "files left out: " + title
	}
	return title
}

// listLine returns the line of one checkpoint. change has its changed lines, or is "".
func listLine(c *invoke.Invocation, cp *gitstore.Checkpoint, tip bool, change string) string {
	now := c.Env.Now()
	mark := func(on bool, letter string) string {
		if on {
			return letter
		}
		return " "
	}
	problem := work.ProblemOf(cp)
	marks := mark(tip && !cp.Archived, "*") + mark(cp.Archived, "a") + mark(cp.Pinned, "p") +
		mark(cp.Resumable && problem == "", "r") + mark(problem != "", "!")
	what := cmp.Or(string(cp.Trigger), "?")
	if cp.Phase != "" {
		what += " in " + cp.Phase
	}
	if change != "" {
		what += " " + change
	}
	if problem != "" {
		what += " (" + problem + ")"
	}
	if cp.LeftOut {
		what += " (files left out)"
	}
	if cp.Filed.Why != "" {
		what += fmt.Sprintf(" (%s, archived %s)", cp.Filed.Why, view.Ago(cp.Filed.At, now))
	}
	line := fmt.Sprintf("%s %s  %s  %s", marks, nameOf(cp), view.Ago(cp.Created, now), what+view.ByText(work.OtherAuthor(c, cp)))
	if note := view.FirstLine(cp.Note); note != "" {
		line += ": " + note
	}
	return view.Clean(line)
}
