// Package story implements the rules for the stories of a pipeline: stages, limits of the
// gates, and worker crashes. All functions are pure.
//
// A story's own record has the key stage.story. The lead's record lists all stories in
// pipeline.story_state. Both records use the same counters:
//
//	pipeline:
//	  story_state:        {AB-1: STAGE_2}    PAUSED if a limit is exceeded
//	  quality_cycles:     {AB-1: 1}          FAIL in stage 3, 2 at most
//	  validation_retries: {AB-1: 0}          NO-GO in stage 1, 1 at most
//	  crash_count:        {AB-1: 1}          crashes of its worker, 1 at most
//
// A counter over its limit pauses the story until a person decides. Stories never restart
// automatically.
package story
