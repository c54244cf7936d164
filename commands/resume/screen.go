package resume

import (
	"strconv"

	"git-checkpoint/commands/internal/display"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/standing"
	"git-checkpoint/gitstore"
)

// screenResumed prints the result of a resume for people: the work, the files that were
// restored, and the point to continue at. The hint stands alone at the left margin, where no
// text of a checkpoint can stand.
func screenResumed(c *invoke.Invocation, at display.Screen, r *resumption) {
	cp := r.Checkpoint
	title := phrase.Title(cp, r.Record, nil)
	saved := phrase.Ago(r.Record.CreatedAt(), c.Env.Now()) + standing.ByOther(c, cp) + ": " + title
	rows := append(standing.ProgressRows(r.Record, r.Verdict), display.Row{Label: "Saved", Text: saved})
	rows = append(rows, standing.WentBackRows(r.Point, c.Env.Now())...)
	rows = append(rows, standing.ParallelRows(r.notHere(c), c.Env.Now())...)
	add := func(label, text string) {
		if text != "" {
			rows = append(rows, display.Row{Label: label, Text: text})
		}
	}
	if summary := r.Record.Doc().Text("context_summary"); summary != title {
		add("Summary", summary)
	}
	add("Session", standing.SessionText(c, r.Record))
	add("Conflicts", phrase.List(r.Record.Conflicts()))
	if n := r.attempt(); n > 1 {
		add("Attempt", strconv.Itoa(n))
	}
	for _, reason := range r.Verdict.WorstFirst() {
		rows = append(rows, standing.ReasonRow(reason))
	}
	if r.restored != nil {
		rows = append(rows, restoredRow(r.restored, r.options.dryRun))
	}
	if r.isComplete() {
		rows = append(rows, display.Row{Label: "Continue", Text: standing.NothingLeft, Style: display.Bold})
	} else if r.Verdict.At.Code != "" {
		rows = append(rows, display.Row{Label: "Continue", Text: standing.ContinueFrom(r.Record, r.Verdict.At), Style: display.Bold})
	}
	c.Printf("%s\n\n%s", at.Heading(standing.Heading(cp, r.Record)), at.Sheet(rows))
	if r.restored != nil && r.restored.Undo != "" {
		c.Infof("")
		c.Infof("hint: %s", undoCommand(r.restored.Undo))
	}
}

// restoredRow returns the row about the files of a restore.
func restoredRow(done *gitstore.Restored, dryRun bool) display.Row {
	row, removed := display.Row{Label: "Restored", Text: "no files"}, "removed"
	if dryRun {
		row.Label, removed = "Would restore", "would remove"
	}
	const few = 8
	if restored := missingFrom(done.Removed, done.Restored); len(restored) > 0 {
		row.Text = phrase.Files(restored, few)
	}
	for _, part := range []struct {
		what  string
		paths []string
	}{
		{removed, done.Removed},
		{"changed since, left as it is:", done.Skipped},
		{"in the way, left as it is:", done.InTheWay},
		{outsideSparse + ":", done.Sparse},
		{"came later:", missingFrom(done.Restored, done.Later)},
		{notInCheckpoint + ":", done.Unsaved},
		{"conflicts to resolve:", done.Merged},
	} {
		if len(part.paths) > 0 {
			row.Below = append(row.Below, part.what+" "+phrase.Files(part.paths, few))
		}
	}
	row.Below = append(row.Below, earlierFiles(done, few)...)
	return row
}
