// Package pipeline describes the documents of the pipeline system: the kinds story, state,
// and run, the single file of a real run, in the versions 1.0.0a, 1.0.0, 4.0.0 and run. It
// also reads other files of related tools at the same path and the plain checkpoints of
// orchestrators, and describes how to restart a worker.
package pipeline

import (
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
)

// stages lists the stages of a story by number.
var stages = []string{"stage_0", "stage_1", "stage_2", "stage_3"}

// Name is the name of the system.
const Name codec.Name = "pipeline"

// System returns the pipeline system.
func System() *codec.System {
	return &codec.System{
		Name:   Name,
		Kinds:  []*codec.Kind{storyKind(), stateKind(), runKind(), otherKind(), plainKind()},
		Folder: ".pipeline",
		Phases: stages,
		Enter: func(r *checkpoint.Record, story checkpoint.Issue) {
			r.Doc().Set("stage", values.NewMap("number", 0, "story", string(story), "last_action", "started"))
		},
		Texts: resumeTexts,
	}
}
