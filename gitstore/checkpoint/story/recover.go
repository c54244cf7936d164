package story

import (
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// A Standing is where a story stands when the lead takes the work up again.
type Standing struct {
	Story    string
	State    string // what the lead's record says now
	Was      string // what it said before, where its own checkpoint is further
	Behind   string // what its own checkpoint says, where that is less far: the lead's word holds
	Known    bool   // it has a checkpoint of its own
	Agent    string // who worked on it
	Done, Of int    // its tasks
	Next     string // where it goes on
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

// Recover holds the lead's record against the stories' own, nil for one that
// has none: a story that got further there is moved. Stories that are done or
// paused are left out.
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

// hold takes over what a story's own record says.
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

// stateOf is the state that a story's own record leads to: the stage that comes
// after the one that it was saved at the end of, or the one that is not over.
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

// rank orders states; one that is paused is beyond all.
func rank(state string) int {
	switch state {
	case Done:
		return 4
	case Paused:
		return 5
	}
	return Stage(state)
}
