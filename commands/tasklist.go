package commands

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"git-checkpoint/commands/output"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// taskOutputs returns the existing outputs of the running tasks.
func (c *Invocation) taskOutputs(l *tasks.List) map[string]tasks.Found {
	found, places := map[string]tasks.Found{}, map[string]string{}
	for _, t := range l.Running() {
		if t.Output == "" || c.store.Root() == "" {
			continue
		}
		if f := c.taskOutput(t.Output); f.Exists {
			found[t.ID], places[t.ID] = f, t.Output
		}
	}
	var list []string
	for _, place := range places {
		list = append(list, place)
	}
	digests, err := c.store.Digests(c.ctx, list)
	for id, f := range found {
		if err == nil {
			f.Digest = digests[places[id]]
			found[id] = f
		}
	}
	return found
}

// maxOutput limits the bytes that are read of an output.
const maxOutput = 1 << 20

// taskOutput examines an output. A JSON file must be complete and can contain a status.
func (c *Invocation) taskOutput(place string) tasks.Found {
	f, err := c.openPlain(place)
	if err != nil {
		return tasks.Found{Exists: errors.Is(err, errNotPlain)}
	}
	defer f.Close()
	if !strings.EqualFold(filepath.Ext(place), ".json") || f.size > maxOutput {
		return tasks.Found{Exists: true}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxOutput))
	if err != nil {
		return tasks.Found{Exists: true, Broken: true}
	}
	status, err := tasks.OutputStatus(data)
	return tasks.Found{Exists: true, Broken: err != nil, Status: status}
}

// listTasks prints the tasks of an issue's newest checkpoint.
func (c *Invocation) listTasks(issue checkpoint.Issue) error {
	cp, r, err := c.store.NewestRecord(c.ctx, issue)
	if err != nil {
		return err
	}
	l, err := c.namedTasks(r)
	if err != nil {
		return taskFailure(issue, "", err)
	}
	if _, err := tasks.Of(r).Batches(); err != nil {
		c.warnf("%v: none of them can begin but with task start --force", err)
	}
	if c.json {
		return c.write(taskRecord(output.WorkflowStep{
			Save: output.Save{
				Type: "task", CheckpointID: string(cp.ID), Issue: string(issue), Commit: cp.Commit.String(), Ref: gitstore.LiveRef(issue),
				Trigger: string(r.Trigger()), Phase: r.Phase(), CreatedAt: r.CreatedAt(), Warnings: c.takeWarnings(),
			},
			Progress: progressRecord(r),
		}, r, l))
	}
	if c.flags.Bool("ready") {
		for _, id := range tasks.Of(r).Ready() {
			c.print("%s\n", output.Clean(id))
		}
		return nil
	}
	var t output.Table
	t.Right(2)
	for _, task := range l {
		t.Row(task.ID, task.Status, strconv.Itoa(task.Attempts), note(task))
	}
	return t.Write(c.out)
}

// showTasks prints the progress of the tasks, if there are any.
func (c *Invocation) showTasks(r *checkpoint.Record) {
	if text := tasksLine(r); text != "" {
		c.print("Tasks: %s\n", output.Clean(text))
	}
}

// showNext prints the next action of another system's workflow.
func (c *Invocation) showNext(v freshness.Verdict) {
	if n := v.Next; n.Action != "" {
		c.print("Next: %s\n", output.Clean(fmt.Sprintf("%s %s (%s)", n.Action, n.Phase, n.Why)))
	}
}

// tasksLine counts the tasks and names some ready tasks. It returns "" if there are no
// tasks.
func tasksLine(r *checkpoint.Record) string {
	l := tasks.Of(r)
	all := l.All()
	if len(all) == 0 {
		return ""
	}
	over := 0
	for _, t := range all {
		if t.Over() {
			over++
		}
	}
	text := fmt.Sprintf("%d of %d complete", over, len(all))
	if ready := l.Ready(); len(ready) > 0 {
		text += ", ready: " + list(few(ready, promptKind))
	}
	return text
}

// batchesLine joins the batches, one group per batch.
func batchesLine(batches [][]string) string {
	groups := make([]string, len(batches))
	for i, b := range batches {
		groups[i] = list(b)
	}
	return strings.Join(groups, "; then ")
}

// namedTasks returns the tasks of the command line, or all tasks.
func (c *Invocation) namedTasks(r *checkpoint.Record) ([]tasks.Task, error) {
	l := tasks.Of(r)
	if len(c.args) == 1 {
		return l.All(), nil
	}
	var out []tasks.Task
	for _, id := range c.args[1:] {
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
		return "after " + list(t.Needs)
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
