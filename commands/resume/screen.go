package resume

import (
	"strconv"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
)

// screenResumed prints the result of a resume for people: the work, the files that were
// restored, and the point to continue at. The hint stands alone at the left margin, where no
// text of a checkpoint can stand.
func screenResumed(c *invoke.Invocation, at view.Screen, r *resumption) {
	cp := r.Checkpoint
	title := view.Title(cp, r.Record, nil)
	work.LookBeside(c, &r.Standing)
	rows := append(r.ProgressRows(), view.Row{Label: "Saved", Text: r.SavedText() + ": " + title})
	rows = append(rows, r.BesideRows()...)
	add := func(label, text string) {
		if text != "" {
			rows = append(rows, view.Row{Label: label, Text: text})
		}
	}
	if summary := r.Record.Doc().Text("context_summary"); summary != title {
		add("Summary", summary)
	}
	add("Session", r.Session.Text)
	add("Conflicts", view.List(r.Record.Conflicts()))
	if n := r.attempt(); n > 1 {
		add("Attempt", strconv.Itoa(n))
	}
	rows = append(rows, r.ReasonRows(nil)...)
	if r.restored != nil {
		rows = append(rows, restoredRow(r.restored, r.options.dryRun))
	}
	if r.isComplete() {
		rows = append(rows, view.Row{Label: "Continue", Text: view.NothingLeft, Style: view.Bold})
	} else if r.Verdict.At.Code != "" {
		rows = append(rows, view.Row{Label: "Continue", Text: r.ContinueFrom(), Style: view.Bold})
	}
	c.Printf("%s\n\n%s", at.Heading(r.Heading()), at.Sheet(rows))
	for k, hint := range append(undoHints(r.restored), r.changedHints()...) {
		if k == 0 {
			c.Infof("")
		}
		c.Infof("hint: %s", hint)
	}
}

// undoHints returns the command that takes a restore back, if it changed files.
func undoHints(done *gitstore.Restored) []string {
	if done == nil || done.Undo == "" {
		return nil
	}
	return []string{undoCommand(done)}
}

// changedHints returns the commands that merge or replace the files that the resume left because
// they changed since the checkpoint. A person who was asked about each file needs none.
func (r *resumption) changedHints() []string {
	if r.restored == nil || len(r.restored.Skipped) == 0 || r.changed != "" || len(r.each) > 0 {
		return nil
	}
	return []string{r.command("--changed merge"), r.command("--changed checkpoint")}
}

// restoredRow returns the row about the files of a restore.
func restoredRow(done *gitstore.Restored, dryRun bool) view.Row {
	row, removed := view.Row{Label: "Restored", Text: "no files"}, "removed"
	if dryRun {
		row.Label, removed = "Would restore", "would remove"
	}
	const few = 8
	if restored := missingFrom(done.Removed, done.Restored); len(restored) > 0 {
		row.Text = view.Files(restored, few)
	}
	for _, part := range []struct {
		what  string
		paths []string
	}{
		{removed, done.Removed},
		{view.LeftSince + ":", done.Skipped},
		{view.LeftInTheWay + ":", done.InTheWay},
		{view.LeftSparse + ":", done.Sparse},
		{view.CameLater + ":", missingFrom(done.Restored, done.Later)},
		{view.LeftUnsaved + ":", done.Unsaved},
		{view.LeftCommitted + ":", missingFrom(done.Skipped, done.Committed)},
		{view.HasConflicts + ":", done.Merged},
	} {
		if len(part.paths) > 0 {
			row.Below = append(row.Below, part.what+" "+view.Files(part.paths, few))
		}
	}
	return row
}
