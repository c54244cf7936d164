package story

import (
	"cmp"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// A Standing is the state of a story by the lead's record and by the story's own record.
type Standing struct {
	Story    string
	State    string             // in the lead's record, "" for a queued story
	Own      string             // in the story's own record, "" without such a record
	Record   *checkpoint.Record // the story's own record, or nil
	Agent    string             // last worker
	Done, Of int                // completed and total tasks
	Next     string             // resume point
	Counts   map[string]int     // larger count of both records, by the key of the counter
}

// String describes the story after Recover.
func (s Standing) String() string {
	text := fmt.Sprintf("story %s is in %s", s.Story, s.recovered())
	switch {
	case s.Own == "":
		return text + ", without a checkpoint of its own"
	case s.recovered() != s.State:
		text += ", not in " + cmp.Or(s.State, queue) + ", by its checkpoint"
	case s.Own != s.State:
		text += ", though its checkpoint is of " + s.Own
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

// queue is the word for the state of a story that has not begun.
const queue = "the queue"

// Conflict returns a text about the difference between both records, or "". A pause in the
// lead's record is no stage, so it contradicts no stage of the story.
func (s Standing) Conflict() string {
	if s.Own == "" || s.Own == s.State || s.State == Paused {
		return ""
	}
	return fmt.Sprintf("story %s is in %s by its own checkpoint, and in %s by the lead's state", s.Story, s.Own, cmp.Or(s.State, queue))
}

// joined returns the state that counts: that of the lead's record, unless the story's own
// record has paused the story.
func (s Standing) joined() string {
	if s.Own == Paused {
		return Paused
	}
	return s.State
}

// recovered returns the more advanced state.
func (s Standing) recovered() string {
	if rank(s.Own) > rank(s.State) {
		return s.Own
	}
	return s.State
}

// Join returns the standing of each story of a lead's record, also of queued stories. The
// function of returns a story's own record, or nil.
func Join(lead *checkpoint.Record, of func(story string) *checkpoint.Record) []Standing {
	var all []Standing
	for _, known := range list(lead) {
		s := Standing{Story: known.ID, State: known.State, Counts: map[string]int{}}
		for _, c := range Counters() {
			s.Counts[c.Key] = c.Count(lead, s.Story)
		}
		if r := of(s.Story); r != nil && Is(r) && Of(r) == s.Story {
			s.hold(r)
		}
		all = append(all, s)
	}
	return all
}

// Joined returns a copy of a lead's record with the counts of all standings. Stories that
// their own records have paused are paused. A conflict about a stage is left to a person.
func Joined(lead *checkpoint.Record, all []Standing) *checkpoint.Record {
	return withStates(lead, all, Standing.joined)
}

// withStates returns a copy of a lead's record with new states and with the counts.
func withStates(lead *checkpoint.Record, all []Standing, state func(Standing) string) *checkpoint.Record {
	r := lead.Clone()
	p := r.Doc().MustSub("pipeline")
	for _, s := range all {
		if now := state(s); now != s.State {
			p.MustSub("story_state").Set(s.Story, now)
		}
		for _, c := range Counters() {
			if n := s.Counts[c.Key]; n > c.Count(lead, s.Story) {
				p.MustSub(c.Key).Set(s.Story, n)
			}
		}
	}
	if next := Next(lead); next != "" && r.ResumeFrom() == next {
		r.SetResumeFrom(Next(r))
	}
	return r
}

// Recover updates a lead's record by the more advanced state of each story. It returns the
// standings except those of stories that are done, paused, or queued without a record of
// their own.
func Recover(lead *checkpoint.Record, of func(story string) *checkpoint.Record) []Standing {
	var open []Standing
	for _, s := range Join(lead, of) {
		if s.State != Done && s.State != Paused && s.State+s.Own != "" {
			open = append(open, s)
		}
	}
	now := withStates(lead, open, Standing.recovered)
	p, _ := now.Doc().Get("pipeline")
	lead.Doc().Set("pipeline", p)
	lead.SetResumeFrom(now.ResumeFrom())
	return open
}

// hold adds the values of the story's own record to s.
func (s *Standing) hold(r *checkpoint.Record) {
	s.Agent, s.Next = r.Doc().Sub("stage").Text("agent"), r.ResumeFrom()
	l := tasks.Of(r)
	s.Of = len(l.All())
	s.Done = s.Of - len(l.Left())
	s.Own, s.Record = stateOf(r, len(l.Left())), r
	for _, c := range Counters() {
		s.Counts[c.Key] = max(s.Counts[c.Key], c.Count(r, s.Story))
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
