package story

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
)

// Recover prefers the more advanced of the lead's state and the story's own checkpoint.
func TestRecover(t *testing.T) {
	for _, c := range []struct{ lead, own, want, state string }{
		{"STAGE_0", "", "story S is in STAGE_0, without a checkpoint of its own", "STAGE_0"},
		{"STAGE_0", "{stage: {story: S, number: 0, agent: a-1}, tasks: {T1: {}}}", "story S is in STAGE_1, not in STAGE_0, by its checkpoint, 0 of 1 tasks complete, resume a-1", "STAGE_1"},
		{"STAGE_1", "{stage: {story: S, number: 1, verdict: GO}}", "story S is in STAGE_2, not in STAGE_1, by its checkpoint", "STAGE_2"},
		{"STAGE_1", "{stage: {story: S, number: 1, verdict: NO-GO}}", "story S is in STAGE_1", "STAGE_1"},
		{"STAGE_2", "{stage: {story: S, number: 2}, tasks: {T1: {status: complete}, T2: {}}, recovery_info: {resume_from: T2}}", "story S is in STAGE_2, 1 of 2 tasks complete, goes on with T2", "STAGE_2"},
		{"STAGE_2", "{stage: {story: S, number: 2}, tasks: {T1: {status: complete}}}", "story S is in STAGE_3, not in STAGE_2, by its checkpoint, 1 of 1 tasks complete", "STAGE_3"},
		{"STAGE_3", "{stage: {story: S, number: 2}, tasks: {T1: {}}}", "story S is in STAGE_3, though its checkpoint is of STAGE_2, 0 of 1 tasks complete", "STAGE_3"},
		{"STAGE_3", "{stage: {story: S, number: 3, verdict: FAIL}}", "story S is in STAGE_3, though its checkpoint is of STAGE_2", "STAGE_3"},
		{"STAGE_3", "{stage: {story: S, number: 3, verdict: PASS}}", "story S is in DONE, not in STAGE_3, by its checkpoint", "DONE"},
		{"STAGE_2", "{stage: {story: S, number: 2}, pipeline: {story_state: {S: PAUSED}}}", "story S is in PAUSED, not in STAGE_2, by its checkpoint", "PAUSED"},
		{"STAGE_2", "note: no story", "story S is in STAGE_2, without a checkpoint of its own", "STAGE_2"},
		{"DONE", "{stage: {story: S, number: 0}}", "", "DONE"},
		{"PAUSED", "{stage: {story: S, number: 3, verdict: PASS}}", "", "PAUSED"},
	} {
		lead := record(t, "pipeline: {story_state: {S: "+c.lead+"}}")
		got := Recover(lead, func(string) *checkpoint.Record {
			if c.own == "" {
				return nil
			}
			return record(t, c.own)
		})
		text := ""
		for _, s := range got {
			text += s.String()
		}
		assert.Equal(t, c.want, text)
		assert.Equal(t, c.state, lead.Doc().Sub("pipeline").Sub("story_state").Text("S"), c.want)
	}
}
