package list

import (
	"slices"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
)

// listOperations prints the operations of this worktree, newest first.
func listOperations(c *invoke.Invocation, o *listOptions) error {
	var issue checkpoint.Issue
	if len(c.Line.Args) > 0 || c.Line.Common.Issue != "" {
		var err error
		if issue, err = c.Issue(); err != nil {
			return err
		}
	}
	if o.filtered() || o.turns || o.drawn || o.archived || o.remote.Given() || o.as != "" {
		return failure.Usagef("list: --operations cannot be combined with filters and other lists")
	}
	list, gone, err := c.Store.Operations(c.Ctx)
	if err != nil {
		return err
	}
	record := view.Operations{CheckpointList: view.CheckpointList{Type: "list"}}
	for _, e := range slices.Concat(list, gone) {
		if e.Concerns(issue) && (o.limit <= 0 || len(record.Operations) < o.limit) {
			record.Operations = append(record.Operations, view.Operation{
				Number: e.Number, State: string(e.State), Command: e.Command, Issues: view.Strings(e.Issues),
				At: e.At, CheckpointID: string(e.Checkpoint), Ref: e.Name(), Gone: slices.Contains(gone, e),
			})
		}
	}
	if c.Line.JSON {
		return c.WriteJSON(record)
	}
	if len(record.Operations) == 0 {
		c.Infof("this worktree has no operation that can be undone")
	}
	defer c.Page()()
	for _, row := range record.Operations {
		state := ""
		if row.State != string(gitstore.OperationDone) {
			state = " (" + row.State + ")"
		}
		if row.Gone {
			state += ", in a worktree that was removed"
		}
		source := ""
		if row.CheckpointID != "" {
			source = " from " + row.CheckpointID
		}
		c.Printf("%4d  %-8s  %s of %s%s%s\n", row.Number, view.Ago(row.At, c.Env.Now()), row.Command,
			view.Clean(view.List(view.Few(row.Issues, fewIssues))), source, state)
	}
	return nil
}

// fewIssues is the number of issues that a line names.
const fewIssues = 5
