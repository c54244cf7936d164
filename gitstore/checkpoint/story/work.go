package story

import "git-checkpoint/gitstore/checkpoint"

// Worked notes what was done last in stage 2 of a story, and where it goes on:
// with the first task that is left, else with the next stage. A record of
// another stage, or of no story, stays as it is.
func Worked(r *checkpoint.Record, action string, left []string) {
	stage := r.Doc().Sub("stage")
	if Stage(stage.Text("number")) != Work {
		return
	}
	stage.Set("last_action", action)
	if len(left) > 0 {
		r.SetResumeFrom(left[0])
		return
	}
	r.SetResumeFrom("stage_3")
}
