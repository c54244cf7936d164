package view

import (
	"cmp"
	"fmt"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
)

// ParallelText describes a checkpoint with files that are not here, such as "e422e20b (Coll, 2
// minutes ago: fix the test) was saved in parallel: 1 file of it is not here: src/a.go".
func ParallelText(n gitstore.NotHere, now time.Time) string {
	when := "in parallel"
	if n.Aside {
		when = "before a stash or a reset"
	}
	text := fmt.Sprintf("%s (%s, %s: %s) was saved %s: ", cmp.Or(n.ID.Short(), n.Name()), cmp.Or(n.Author, "unknown"),
		Ago(n.Created, now), Truncate(Title(&n.Checkpoint, nil, nil), 60), when)
	if n.Reason != "" {
		return text + "it cannot be merged here: " + n.Reason
	}
	are := "are"
	if len(n.Files) == 1 {
		are = "is"
	}
	return text + fmt.Sprintf("%s of it %s not here: %s", Plural(len(n.Files), "file"), are, List(Few(QuotePaths(n.Files), fewFiles)))
}

const fewFiles = 5 // of a checkpoint that are named

// NotHereLabel returns the label of a checkpoint whose files are not here.
func NotHereLabel(n gitstore.NotHere) string {
	if n.Aside {
		return "Set aside"
	}
	return "Parallel"
}

// MergeCommand returns the command that brings the files of a checkpoint that are not here.
func MergeCommand(n gitstore.NotHere) string {
	command := "git checkpoint restore " + IssueArg(n.Issue) + " " + QuoteArg(cmp.Or(n.ID.Short(), n.Name()))
	switch {
	case !n.Aside:
		return command + " --changed merge"
	case len(n.Files) <= fewFiles:
		return command + " -- " + failure.PathArgs("/", n.Files...) // in any directory
	}
	return command // files that came later stay
}

// ParallelRows returns a row for each checkpoint whose files are not here.
func ParallelRows(list []gitstore.NotHere, now time.Time) (rows []Row) {
	for _, n := range list {
		rows = append(rows, Row{Label: NotHereLabel(n), Text: ParallelText(n, now), Style: Yellow, Hint: MergeCommand(n)})
	}
	return rows
}

// ParallelRecords returns the JSON records of checkpoints that were saved in parallel.
func ParallelRecords(list []gitstore.NotHere) (records []Parallel) {
	for _, n := range list {
		records = append(records, Parallel{
			CheckpointID: n.Name(), SavedBy: n.Author, CreatedAt: n.Created, Files: QuotePaths(n.Files), Refused: n.Reason, Command: MergeCommand(n),
		})
	}
	return records
}

// WentBackText describes a person's restore of a checkpoint that is not the newest, such as
// "Ann went back to CP-... (Turn: fix the test) 2 minutes ago; 5 later checkpoints were left:
// CP-..., CP-... and 3 more". It returns "" without such an event.
func WentBackText(p *gitstore.Point, now time.Time) string {
	if !p.WentBack() {
		return ""
	}
	var left []string
	for i := range p.Later {
		left = append(left, p.Later[i].Name())
	}
	const few = 3
	were := "were"
	if len(left) == 1 {
		were = "was"
	}
	return fmt.Sprintf("%s went back to %s (%s) %s; %s %s left: %s", cmp.Or(p.By, "a person"), p.Name(),
		Truncate(Title(p.Checkpoint, nil, nil), 60), Ago(p.At, now), Plural(len(left), "later checkpoint"), were, List(Few(left, few)))
}

// WentBackRecord returns the JSON record of WentBackText, or nil.
func WentBackRecord(p *gitstore.Point) *WentBack {
	if !p.WentBack() {
		return nil
	}
	r := &WentBack{CheckpointID: p.Name(), By: p.By, At: p.At}
	for i := range p.Later {
		r.Left = append(r.Left, p.Later[i].Name())
	}
	return r
}
