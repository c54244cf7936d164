package workflow

import (
	"strconv"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/judge"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// listTasks prints the tasks of an issue's newest checkpoint.
func listTasks(c *invoke.Invocation, issue checkpoint.Issue) error {
	cp, r, err := c.Store.NewestRecord(c.Ctx, issue)
	if err != nil {
		return err
	}
	l, err := namedTasks(c, r)
	if err != nil {
		return judge.TaskFailure(issue, "", err)
	}
	if _, err := tasks.Of(r).Batches(); err != nil {
		c.Warnf("%v: none of them can begin but with task start --force", err)
	}
	if c.JSON {
		return c.WriteJSON(taskRecord(output.WorkflowStep{
			Save: output.Save{
				Type: "task", CheckpointID: string(cp.ID), Issue: string(issue), Commit: cp.Commit.String(), Ref: gitstore.LiveRef(issue),
				Trigger: string(r.Trigger()), Phase: r.Phase(), CreatedAt: r.CreatedAt(), Warnings: c.TakeWarnings(),
			},
			Progress: progressRecord(r),
		}, r, l))
	}
	if c.Flags.Bool("ready") {
		for _, id := range tasks.Of(r).Ready() {
			c.Printf("%s\n", output.Clean(id))
		}
		return nil
	}
	var t output.Table
	t.Right(2)
	for _, task := range l {
		t.Row(task.ID, task.Status, strconv.Itoa(task.Attempts), note(task))
	}
	return t.Write(c.Out)
}

// namedTasks returns the tasks of the command line, or all tasks.
func namedTasks(c *invoke.Invocation, r *checkpoint.Record) ([]tasks.Task, error) {
	l := tasks.Of(r)
	if len(c.Args) == 1 {
		return l.All(), nil
	}
	var out []tasks.Task
	for _, id := range c.Args[1:] {
		t, ok := l.Task(id)
		if !ok {
			return nil, &tasks.UnknownError{ID: id}
		}
		out = append(out, t)
	}
	return out, nil
}

// note returns the text beside a task's status.
func note(t tasks.Task) string {
	switch {
	case t.Error != "":
		return t.Error
	case t.WaitsFor != "":
		return "waits for " + t.WaitsFor
	case t.Suspected != "":
		return "suspected since " + t.Suspected
	case t.Status == tasks.Running && t.By != "":
		return "by " + t.By
	case !t.Over() && len(t.Needs) > 0:
		return "after " + phrase.List(t.Needs)
	}
	return t.Output
}

// taskRecord returns the JSON record of tasks. Batches are left out if the tasks contain
// a cycle.
func taskRecord(s output.WorkflowStep, r *checkpoint.Record, of []tasks.Task) output.Tasks {
	l := tasks.Of(r)
	out := output.Tasks{WorkflowStep: s, Ready: l.Ready()}
	out.Batches, _ = l.Batches()
	for _, t := range of {
		out.Tasks = append(out.Tasks, output.Task{
			ID: t.ID, Status: t.Status, Attempts: t.Attempts, Output: t.Output, Error: t.Error, Needs: t.Needs, By: t.By, WaitsFor: t.WaitsFor,
		})
	}
	return out
}
