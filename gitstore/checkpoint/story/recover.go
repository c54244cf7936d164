package story

import (
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// A Standing is the state of a story after a restart of the lead.
type Standing struct {
	Story    string
	State    string // state in the lead's record after Recover
	Was      string // former state, if the story's own checkpoint is ahead
	Behind   string // state of the story's own checkpoint, if behind; the lead's state counts
	Known    bool   // the story has its own checkpoint
	Agent    string // last worker
	Done, Of int    // completed and total tasks
	Next     string // resume point
}

func (s Standing) String() string {
	text := fmt.Sprintf("story %s is in %s", s.Story, s.State)
	switch {
	case !s.Known:
		return text + ", without a checkpoint of its own"
	case s.Was != "":
		text += ", not in " + s.Was + ", by its checkpoint"
	case s.Behind != "":
		text += ", though its checkpoint is of " + s.Behind
	}
	if s.Of > 0 {
		text += fmt.Sprintf(", %d of %d tasks complete", s.Done, s.Of)
	}
	if s.Next != "" {
		text += ", goes on with " + s.Next
	}
	if s.Agent != "" {
		text += ", resume " + s.Agent
	}
	return text
}

// Recover compares the lead's record with the stories' own records and updates stories
// that are ahead. The function of returns nil for a story without a record. Recover
// ignores done and paused stories.
func Recover(lead *checkpoint.Record, of func(story string) *checkpoint.Record) []Standing {
	states := lead.Doc().Sub("pipeline").Sub("story_state")
	var out []Standing
	for _, story := range states.Keys() {
		s := Standing{Story: story, State: states.Text(story)}
		if s.State == Done || s.State == Paused || Stage(s.State) == 4 {
			continue
		}
		if r := of(story); r != nil && Is(r) {
			s.hold(r)
			states.Set(story, s.State)
		}
		out = append(out, s)
	}
	return out
}

// hold merges the story's own record into s.
func (s *Standing) hold(r *checkpoint.Record) {
	s.Known, s.Agent, s.Next = true, r.Doc().Sub("stage").Text("agent"), r.ResumeFrom()
	l := tasks.Of(r)
	s.Of = len(l.All())
	s.Done = s.Of - len(l.Left())
	switch state := stateOf(r, len(l.Left())); {
	case rank(state) > rank(s.State):
		s.State, s.Was = state, s.State
	case rank(state) < rank(s.State):
		s.Behind = state
	}
}

// stateOf returns the state that follows from a story's own record: the next stage, or
// the same stage if unfinished.
func stateOf(r *checkpoint.Record, left int) string {
	n := Stage(r.Doc().Sub("stage").Text("number"))
	switch {
	case Err(r, Of(r)) != nil:
		return Paused
	case SentBack(r) && n == Quality, n == Work && left > 0:
		return "STAGE_2"
	case SentBack(r):
		return "STAGE_1"
	case n >= Quality:
		return Done
	}
	return fmt.Sprintf("STAGE_%d", n+1)
}

// rank returns the sort order of a state. Paused ranks highest.
func rank(state string) int {
	switch state {
	case Done:
		return 4
	case Paused:
		return 5
	}
	return Stage(state)
}
