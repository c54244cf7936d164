// Package story has the rules for the stories of a pipeline: their stages, how
// often a gate may send one back, and what a crash of its worker leads to. It
// is pure.
//
// A story's own record has it under stage.story; the record of the lead has
// all of them under pipeline.story_state. Both count in the same place:
//
//	pipeline:
//	  story_state:        {AB-1: STAGE_2}    PAUSED where a limit was passed
//	  quality_cycles:     {AB-1: 1}          FAIL in stage 3, 2 at most
//	  validation_retries: {AB-1: 0}          NO-GO in stage 1, 1 at most
//	  crash_count:        {AB-1: 1}          crashes of its worker, 1 at most
//
// A counter that passes its limit pauses the story: a person decides then, and
// nothing starts over by itself.
package story
