package freshness

import (
	"strings"

	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// settle returns a command that recovers abandoned tasks. The command names the issue,
// because the current branch may belong to another issue.
func (in input) settle() string {
	words := []string{"git", "checkpoint", "task", "recover"}
	if in.facts.Name != "" {
		words = append(words, "--issue", in.facts.Name)
	}
	return command(words...)
}

// checkTasks reports tasks that were running at the checkpoint. It cannot check whether
// they still run, only whether their output exists.
func checkTasks(in input) []Reason {
	l := tasks.Of(in.record)
	var out []Reason
	for _, t := range l.Running() {
		r := reason("tasks", ProceedWithWarning, "Task %s was running and has no output", printable(t.ID))
		switch f := in.facts.Tasks[t.ID]; {
		case f.Broken:
			r.Message = "Task " + printable(t.ID) + " was running and its output is broken"
		case f.Exists:
			r.Message = "Task " + printable(t.ID) + " was running and its output is there"
		}
		out = append(out, r)
	}
	if out = capped(out); len(out) > 0 {
		out[len(out)-1].Hint = in.settle() // on the last finding only: one command recovers all tasks
	}
	if w := l.BatchWarning(); w != "" {
		out = append(out, reason("tasks", ProceedWithWarning, "%s", w))
	}
	return out
}

// maxTasks limits the number of tasks reported individually.
const maxTasks = 20

func capped(all []Reason) []Reason {
	if len(all) <= maxTasks {
		return all
	}
	more := reason("tasks", ProceedWithWarning, "%s more were running", count(len(all)-maxTasks+1, "task"))
	return append(all[:maxTasks-1:maxTasks-1], more)
}

// checkStory reports a story that paused because it exceeded a limit and needs a decision
// of the user.
func checkStory(in input) []Reason {
	if !story.Is(in.record) {
		return nil
	}
	err := story.Err(in.record, story.Of(in.record))
	if err == nil {
		return nil
	}
	text := printable(err.Error())
	return []Reason{reason("story", PromptUser, "%s", strings.ToUpper(text[:1])+text[1:])}
}
