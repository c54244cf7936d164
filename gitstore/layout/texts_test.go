package layout

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func textsFor(t *testing.T, as Name, name string, change func(r *checkpoint.Record)) Texts {
	t.Helper()
	r := read(t, name).Apply(nil)
	if change != nil {
		change(r)
	}
	got, err := TextsOf(as, stored(t, r))
	require.NoError(t, err)
	return got
}

func TestTexts(t *testing.T) {
	assert.Equal(t, Texts{
		Found:    "Found existing checkpoint for this plan.\nCurrent phase: 3\nCompleted phases: 1,2\n",
		Question: "Resume from checkpoint? (Y/n) ",
		Resumed:  "Resuming from Phase 3\nCompleted phases: 1,2\nSkipping completed work...\n",
	}, textsFor(t, Recovery, "recovery.json", nil))
	assert.Contains(t, textsFor(t, Recovery, "recovery.json", func(r *checkpoint.Record) {
		r.SetProgress(checkpoint.Progress{Current: "1", Completed: []string{"1"}, Total: 3})
	}).Resumed, "Resuming from Phase 2\n", "the first that is not completed")
	assert.Equal(t, Texts{
		Found:    "Detected interrupted workflow: wf-9\n",
		Question: "Resume workflow from ARCHITECTURE? [Y/n] ",
		Resumed: "Resuming workflow wf-9 from ARCHITECTURE phase\n" +
			"Last activity: 2026-01-02T04:04:05Z\nCompleted: REQUIREMENTS\n",
	}, textsFor(t, Dotagent, "dotagent-phase.json", nil))
	block := "CHECKPOINT RESUME \xe2\x80\x94 DO NOT re-execute completed work.\n" +
		"Tasks already completed: AB-11\n" +
		"Tasks remaining: AB-12, AB-13\n" +
		"Last action: AB-11 is merged\n" +
		"Continue from remaining tasks only.\n"
	assert.Equal(t, Texts{
		Resumed: "resume: worker 7\nfallback: story-AB-1-s2-retry\n" + block, Prompt: block,
	}, textsFor(t, Pipeline, "pipeline-story.json", nil))
	hostile := textsFor(t, Pipeline, "pipeline-story.json", func(r *checkpoint.Record) {
		r.Doc().Set("tasks", newObject())
		_ = r.Doc().Assign("stage.agent", nil)
		_ = r.Doc().Assign("stage.last_action", "one\r\ntwo\x1b[2J")
	})
	assert.Equal(t, "fallback: story-AB-1-s2-retry\nCHECKPOINT RESUME \u2014 DO NOT re-execute completed work.\n"+
		"Tasks already completed: \nTasks remaining: \nLast action: one  two\ufffd[2J\nContinue from remaining tasks only.\n", hostile.Resumed)
	for _, as := range []Name{Crunch, Claude} {
		assert.Equal(t, Texts{}, textsFor(t, as, "recovery.json", nil))
	}
	for _, as := range []Name{Recovery, Dotagent, Pipeline} {
		_, err := TextsOf(as, checkpoint.New())
		require.ErrorContains(t, err, "the record has no ")
	}
}
