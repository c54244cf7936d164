package pipeline

import (
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// GitStats are the numbers of changed files and lines of a story.
type GitStats struct{ Files, Added, Deleted int }

// AddStats adds values of a story to the lead's document in a lead's record: the times of the
// stages in the story's own record, and the stats unless they are zero. Values that the
// document states stay.
func AddStats(lead, own *checkpoint.Record, story string, git GitStats) {
	m := stateOf(lead)
	if m == nil {
		return
	}
	if times := stageTimes(own); times.Len() > 0 {
		stated := m.MustSub("stage_timestamps").MustSub(story)
		for key, v := range times.All() {
			if !values.Has(stated, key) {
				stated.Set(key, v)
			}
		}
	}
	if stated := m.Sub("git_stats"); git != (GitStats{}) && !values.Has(stated, story) {
		m.MustSub("git_stats").Set(story, values.NewMap("lines_added", git.Added, "lines_deleted", git.Deleted, "files_changed", git.Files))
	}
}

// stageTimes returns the times of the stages that steps of this program have begun and ended,
// in the form of stage_timestamps.
func stageTimes(own *checkpoint.Record) *checkpoint.Map {
	times := checkpoint.NewMap()
	put := func(key string, v any) {
		if at, err := checkpoint.ParseTime(v); err == nil {
			times.Set(key, workflow.FormatTime(at))
		}
	}
	for _, stage := range stages {
		phase := values.Sub(own.Doc(), "progress.phases."+stage)
		put(stage+"_start", values.Get(phase, "started_at"))
		if workflow.StatusOf(values.Text(phase, "status")) == workflow.Completed {
			put(stage+"_end", values.Get(phase, "timestamp"))
		}
	}
	return times
}
