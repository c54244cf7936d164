package story

import "git-checkpoint/gitstore/checkpoint"

// Worked records the last action of a story in stage 2 and its resume point: the first
// remaining task, or the next stage if no task remains. Records in another stage are
// unchanged.
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
