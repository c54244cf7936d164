package work

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// NotHere returns the checkpoints that were saved in parallel and whose files are not here,
// except one that a resume restores. Without an answer, it warns and returns nothing.
func NotHere(c *invoke.Invocation, issue checkpoint.Issue, except checkpoint.ID) []gitstore.NotHere {
	list, err := c.Store.NotHere(c.Ctx, issue)
	if err != nil {
		c.Warnf("work that was saved in parallel is not compared: %v", err)
	}
	return slices.DeleteFunc(list, func(n gitstore.NotHere) bool { return n.ID == except && n.ID != "" })
}

// ByOther returns a text such as ", by Coll" if somebody else saved a checkpoint, else "".
func ByOther(c *invoke.Invocation, cp *gitstore.Checkpoint) string {
	if cp.Author == "" || cp.Author == c.Store.Author() {
		return ""
	}
	return ", by " + cp.Author
}

// ParallelText describes a checkpoint that was saved in parallel, such as "e422e20b (Coll, 2
// minutes ago: fix the test) was saved in parallel: 1 file of it is not here: src/a.go".
func ParallelText(n gitstore.NotHere, now time.Time) string {
	text := fmt.Sprintf("%s (%s, %s: %s) was saved in parallel: ", cmp.Or(n.ID.Short(), n.Name()), cmp.Or(n.Author, "unknown"),
		view.Ago(n.Created, now), view.Truncate(view.Title(&n.Checkpoint, nil, nil), 60))
	if n.Reason != "" {
		return text + "it cannot be merged here: " + n.Reason
	}
	const few = 5
	are := "are"
	if len(n.Files) == 1 {
		are = "is"
	}
	return text + fmt.Sprintf("%s of it %s not here: %s", view.Plural(len(n.Files), "file"), are, view.List(view.Few(view.QuotePaths(n.Files), few)))
}

// MergeCommand returns the command that merges a checkpoint that was saved in parallel.
func MergeCommand(n gitstore.NotHere) string {
	return "git checkpoint restore " + view.IssueArg(n.Issue) + " " + view.QuoteArg(cmp.Or(n.ID.Short(), n.Name())) + " --changed merge"
}

// ShowParallel prints a line and a hint for each checkpoint that was saved in parallel.
func ShowParallel(c *invoke.Invocation, list []gitstore.NotHere) {
	for _, n := range list {
		c.Printf("Parallel: %s\n", view.Clean(ParallelText(n, c.Env.Now())))
		c.Printf("  hint: %s\n", MergeCommand(n))
	}
}

// ParallelRows returns a row for each checkpoint that was saved in parallel.
func ParallelRows(list []gitstore.NotHere, now time.Time) (rows []view.Row) {
	for _, n := range list {
		rows = append(rows, view.Row{Label: "Parallel", Text: ParallelText(n, now), Style: view.Yellow, Hint: MergeCommand(n)})
	}
	return rows
}

// ParallelRecords returns the JSON records of checkpoints that were saved in parallel.
func ParallelRecords(list []gitstore.NotHere) (records []view.Parallel) {
	for _, n := range list {
		records = append(records, view.Parallel{
			CheckpointID: n.Name(), SavedBy: n.Author, CreatedAt: n.Created, Files: view.QuotePaths(n.Files), Refused: n.Reason, Command: MergeCommand(n),
		})
	}
	return records
}
