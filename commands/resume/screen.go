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
		rows = append(rows, restoredRow(restoredFiles(c, r.restored, r.options.dryRun), r.options.dryRun))
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

// restoredRow returns the row about the files of a restore, with a line for each kind of result.
func restoredRow(files []view.RestoredFile, dryRun bool) view.Row {
	paths := map[string][]string{}
	var kinds []string
	for _, f := range files {
		what := f.What + ":"
		switch f.Kind {
		case view.FileRestored:
			what = ""
		case view.FileRemoved:
			what = f.What
		}
		if paths[what] = append(paths[what], f.Path); len(paths[what]) == 1 && what != "" {
			kinds = append(kinds, what)
		}
	}
	const few = 8
	row := view.Row{Label: "Restored", Text: "no files"}
	if dryRun {
		row.Label = "Would restore"
	}
	if len(paths[""]) > 0 {
		row.Text = view.Files(paths[""], few)
	}
	for _, what := range kinds {
		row.Below = append(row.Below, what+" "+view.Files(paths[what], few))
	}
	return row
}
