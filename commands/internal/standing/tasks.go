package standing

import (
	"fmt"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

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
		text += ", ready: " + phrase.List(phrase.Few(ready, promptKind))
	}
	return text
}

// batchesLine joins the batches, one group per batch.
func batchesLine(batches [][]string) string {
	groups := make([]string, len(batches))
	for i, b := range batches {
		groups[i] = phrase.List(b)
	}
	return strings.Join(groups, "; then ")
}

// ShowTasks prints the progress of the tasks, if there are any.
func ShowTasks(c *invoke.Invocation, r *checkpoint.Record) {
	if text := tasksLine(r); text != "" {
		c.Printf("Tasks: %s\n", output.Clean(text))
	}
}

// ShowNext prints the next action of another system's workflow.
func ShowNext(c *invoke.Invocation, v freshness.Verdict) {
	if n := v.Next; n.Action != "" {
		c.Printf("Next: %s\n", output.Clean(fmt.Sprintf("%s %s (%s)", n.Action, n.Phase, n.Why)))
	}
}
