package list

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/commands/internal/display"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/standing"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
)

// showTimelines prints lists as timelines for people.
func showTimelines(c *invoke.Invocation, o *listOptions, at display.Screen, lists []*gitstore.List, keep func(*gitstore.Checkpoint) bool) {
	var shown [][]display.TimelineEntry
	for _, l := range lists {
		if len(l.Checkpoints) == 0 {
			continue
		}
		if len(shown) > 0 {
			c.Printf("\n")
		}
		picked, more := foldTurns(l, o, pick(c, o, l, keep))
		entries := timelineEntries(c, l, picked)
		for k, i := range picked {
			entries[k].Note = foldedNote(entries[k].Note, more[k])
			if o.turns {
				entries[k].Note = strings.TrimSpace(turnChange(c, l, i) + " " + entries[k].Note)
			}
		}
		c.Printf("%s\n", at.Heading(timelineHead(l, len(picked))))
		if len(entries) > 0 {
			c.Printf("\n%s", at.Timeline(entries))
		}
		shown = append(shown, entries)
	}
	c.Printf("%s", at.Legend(shown...))
	if n := len(lists) - len(shown); n > 0 {
		c.Printf("\n%s with nothing but an archive, or nothing left\nhint: git checkpoint list --all --archived\n", phrase.Plural(n, "issue"))
	}
}

// timelineHead returns the heading with the number of shown and existing checkpoints.
func timelineHead(l *gitstore.List, shown int) string {
	head := "Issue " + string(l.Issue) + ": "
	switch n := len(l.Checkpoints); {
	case !l.Complete:
		return head + "the newest " + phrase.Plural(shown, "checkpoint")
	case n > shown:
		return head + phrase.Plural(shown, "checkpoint") + fmt.Sprintf(" of %d", n)
	}
	return head + phrase.Plural(shown, "checkpoint")
}

// timelineEntries returns the timeline entries of checkpoints.
func timelineEntries(c *invoke.Invocation, l *gitstore.List, picked []int) []display.TimelineEntry {
	entries := make([]display.TimelineEntry, len(picked))
	now := c.Env.Now()
	for k, i := range picked {
		cp := &l.Checkpoints[i]
		entries[k] = display.TimelineEntry{
			ID: nameOf(cp), Short: cmp.Or(cp.ID.Short(), cp.Commit.String()[:12]), Phase: cp.Phase, Trigger: cmp.Or(string(cp.Trigger), "?"),
			Age: phrase.Ago(cp.Created, now), Brief: phrase.Briefly(cp.Created, now), Note: timelineNote(cp), Problem: standing.ProblemOf(cp),
			Tip: i == 0 && !cp.Archived, Archived: cp.Archived, Filed: string(cp.Filed.Why), Pinned: cp.Pinned, Resumable: cp.Resumable,
			Stale: now.Sub(cp.Created) > freshness.DefaultMaxAge || cp.Created.Sub(now) > freshness.DefaultTolerance,
		}
	}
	return entries
}

// timelineNote returns the first line of the note, after a warning if the checkpoint
// lacks files.
func timelineNote(cp *gitstore.Checkpoint) string {
	note := phrase.FirstLine(cp.Note)
	if !cp.LeftOut {
		return note
	}
	return strings.TrimSuffix("files left out: "+note, ": ")
}

// listLine returns the line of one checkpoint. change has its changed lines, or is "".
func listLine(cp *gitstore.Checkpoint, tip bool, change string, now time.Time) string {
	mark := func(on bool, letter string) string {
		if on {
			return letter
		}
		return " "
	}
	problem := standing.ProblemOf(cp)
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
		what += fmt.Sprintf(" (%s, archived %s)", cp.Filed.Why, phrase.Ago(cp.Filed.At, now))
	}
	line := fmt.Sprintf("%s %s  %s  %s", marks, nameOf(cp), phrase.Ago(cp.Created, now), what)
	if note := phrase.FirstLine(cp.Note); note != "" {
		line += ": " + note
	}
	return output.Clean(line)
}
