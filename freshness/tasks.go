package freshness

import (
	"strings"

	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// settle is the command that settles tasks that nobody works on any more. It
// names the issue, since the branch may be another's.
func (in input) settle() string {
	words := []string{"git", "checkpoint", "task", "recover"}
	if in.facts.Name != "" {
		words = append(words, "--issue", in.facts.Name)
	}
	return command(words...)
}

// checkTasks finds tasks that ran at the checkpoint. Whether they still do
// cannot be known; whether their output is there can.
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
		out[len(out)-1].Hint = in.settle() // once: it settles all of them
	}
	if w := l.BatchWarning(); w != "" {
		out = append(out, reason("tasks", ProceedWithWarning, "%s", w))
	}
	return out
}

// maxTasks bounds the tasks that are told of one by one.
const maxTasks = 20

func capped(all []Reason) []Reason {
	if len(all) <= maxTasks {
		return all
	}
	more := reason("tasks", ProceedWithWarning, "%s more were running", count(len(all)-maxTasks+1, "task"))
	return append(all[:maxTasks-1:maxTasks-1], more)
}

// checkStory finds a story that is paused: a limit was passed, and a person
// decides.
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
