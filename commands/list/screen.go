package list

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// maxFiles limits the files that show lists on a terminal.
const maxFiles = 40

// screenShow prints a checkpoint for people: its title, the state of the work, texts for
// the next session, and the files.
func screenShow(c *invoke.Invocation, at view.Screen, cp *gitstore.Checkpoint, r *checkpoint.Record) {
	s := &view.Standing{Checkpoint: cp, Record: r, Verdict: freshness.Recorded(r), Now: c.Env.Now()}
	defer c.Page()()
	c.SkipIssue()
	c.Printf("%s\n\n", at.Heading(view.Title(cp, r, nil)))
	rows := append([]view.Row{
		{Label: "Issue", Text: strings.TrimPrefix(s.Heading(), "Issue ")},
		{Label: "Checkpoint", Text: cp.Name()},
		{Label: "Saved", Text: savedText(c, cp)},
		{Label: "Contains", Text: view.ScopeText(r.Snapshot())},
	}, s.ProgressRows()...)
	rows = append(rows, view.ForkRows(r.Fork())...)
	rows = append(rows, view.ParallelRows(notHere(c, cp), c.Env.Now())...)
	rows = append(rows, view.Row{Label: "Continue", Text: s.ContinueFrom()})
	if !cp.Resumable {
		rows = append(rows, view.Row{Label: "Resume", Text: strings.TrimSuffix("no: "+view.List(r.Warnings()), ": "), Style: view.Red})
	}
	rows = append(rows, textRows(cp, r)...)
	c.Printf("%s\n", at.Sheet(rows))
	showScreenFiles(c, at, cp)
	if left := r.Snapshot().Skipped; len(left) > 0 {
		c.Printf("%s\n", at.Paint(view.Bold, "Not in the checkpoint:"))
		rows := make([][]string, len(left))
		for i, f := range left {
			rows[i] = []string{"  " + view.QuotePath(f.Path), view.WhyLeftOut(f)}
		}
		showRows(c, at, rows)
	}
	name := view.IssueArg(cp.Issue) + " " + view.QuoteArg(cmp.Or(cp.ID.Short(), cp.Commit.String()))
	c.Printf("\nhint: git checkpoint restore %s\nhint: git checkpoint show %s --format yaml\n", name, name)
}

// savedText returns age, local time, event and branch of a save.
func savedText(c *invoke.Invocation, cp *gitstore.Checkpoint) string {
	now := c.Env.Now()
	text := view.Ago(cp.Created, now) + " (" + cp.Created.In(now.Location()).Format("Mon 2 Jan 2006 15:04 -0700") + ")"
	if at := cp.Imported(); !at.IsZero() {
		text += ", imported " + view.Ago(at, now)
	}
	text += ", " + cmp.Or(string(cp.Trigger), "no trigger")
	if cp.Author != "" {
		text += ", by " + cp.Author
	}
	if cp.Branch != "" {
		text += ", branch " + cp.Branch
	}
	if cp.Pinned {
		text += ", pinned"
	}
	if cp.Filed.Why != "" {
		text += fmt.Sprintf("; archived %s (%s)", view.Ago(cp.Filed.At, now), view.ArchivedAs(cp))
	}
	return text
}

// textRows returns the texts that a person or an agent wrote, without the title.
func textRows(cp *gitstore.Checkpoint, r *checkpoint.Record) []view.Row {
	var rows []view.Row
	add := func(label string, lines []string) {
		for i, line := range lines {
			if i > 0 {
				label = ""
			}
			rows = append(rows, view.Row{Label: label, Text: line})
		}
	}
	if _, more, several := strings.Cut(strings.TrimSpace(cp.Note), "\n"); several {
		add("Note", nonEmptyLines(more))
	}
	add("Summary", nonEmptyLines(r.Doc().Text("context_summary")))
	decisions := r.Decisions()
	for i, d := range decisions {
		decisions[i] = "- " + d
	}
	add("Decisions", decisions)
	add("Conflicts", r.Conflicts())
	return rows
}

func nonEmptyLines(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}

// showScreenFiles prints the files that differ from HEAD at the time of the save, with
// their changed lines.
func showScreenFiles(c *invoke.Invocation, at view.Screen, cp *gitstore.Checkpoint) {
	d, err := c.Store.Files.Compare(nil, cp)
	if err != nil {
		c.Warnf("files not shown: %v", err)
		return
	}
	files, err := d.Files(c.Ctx)
	if err != nil {
		c.Warnf("files not shown: %v", err)
		return
	}
	total := gitstore.Totals{Files: len(files)}
	rows := make([][]string, len(files))
	for i, f := range files {
		rows[i] = []string{"  " + f.Status, view.QuotePath(f.Path), ""}
		if f.Counted {
			rows[i][2] = view.ChangedLines(&gitstore.Totals{Added: f.Added, Deleted: f.Deleted})
		}
		total.Added, total.Deleted = total.Added+f.Added, total.Deleted+f.Deleted
	}
	if len(files) == 0 {
		c.Printf("%s no file differs from HEAD\n", at.Paint(view.Bold, "Files:"))
		return
	}
	c.Printf("%s %s, compared with HEAD at the save\n", at.Paint(view.Bold, "Files:"), view.ChangedFiles(&total))
	showRows(c, at, rows)
}

// showRows prints the first rows, and the number of the others.
func showRows(c *invoke.Invocation, at view.Screen, rows [][]string) {
	c.Printf("%s", at.Columns(rows[:min(len(rows), maxFiles)]))
	if n := len(rows) - maxFiles; n > 0 {
		c.Printf("  and %d more\n", n)
	}
}
