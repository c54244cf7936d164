package story

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// A Story is a story in the record of a pipeline's lead. The state of a queued story is "".
type Story struct{ ID, State string }

// IsLead reports whether a record is the state of a pipeline's lead.
func IsLead(r *checkpoint.Record) bool {
	p := r.Doc().Sub("pipeline")
	_, knowsEnd := p.Get("complete")
	return !Is(r) && (knowsEnd || r.Layout() == "pipeline" && p.Sub("story_state").Len() > 0)
}

// IsComplete reports whether a record is the state of a lead whose pipeline is complete.
func IsComplete(r *checkpoint.Record) bool {
	complete, _ := r.Doc().Lookup("pipeline.complete")
	return complete == true && IsLead(r)
}

// Stories returns the stories of a lead's record: first those with a state, then the queue.
func Stories(r *checkpoint.Record) []Story {
	if !IsLead(r) {
		return nil
	}
	return list(r)
}

// list is Stories for every record with states of stories.
func list(r *checkpoint.Record) []Story {
	p := r.Doc().Sub("pipeline")
	states := p.Sub("story_state")
	var all []Story
	for _, id := range states.Keys() {
		state := states.Text(id)
		if Stage(state) == 4 {
			state = Done
		}
		all = append(all, Story{id, state})
	}
	known := map[string]bool{}
	for _, id := range p.Texts("priority_queue_ids") {
		if _, begun := states.Get(id); !begun && !known[id] {
			all = append(all, Story{ID: id})
		}
		known[id] = true
	}
	return all
}

// Next returns the story at which a lead continues: the first story in a stage, or the
// first queued story. It returns "" if each story is done or paused.
func Next(r *checkpoint.Record) string {
	all := Stories(r)
	open := func(s Story) bool { return s.State != "" && s.State != Done && s.State != Paused }
	if i := slices.IndexFunc(all, open); i >= 0 {
		return all[i].ID
	}
	if i := slices.IndexFunc(all, func(s Story) bool { return s.State == "" }); i >= 0 {
		return all[i].ID
	}
	return ""
}
