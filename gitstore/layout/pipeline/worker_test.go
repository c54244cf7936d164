package pipeline_test

import (
	"testing"

	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/internal/testing/layouttest"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/pipeline"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A new worker gets the lead's knowledge of its story, formatted by an optional template.
func TestWorker(t *testing.T) {
	story := layouttest.Stored(t, layouttest.Read(t, "pipeline-story.json").Apply(nil))
	f, err := layout.Read(pipeline.Name, ".pipeline/state.json", []byte(`{"team_name": "pipeline-7", "complete": false, "last_check": "2026-01-02T03:04:05Z",
		"story_state": {"AB-1": "STAGE_2"}, "worktree_map": {"AB-1": "../wt\nAB-1"}, "business_answers": {"who": "all"}}`))
	require.NoError(t, err)
	lead := layouttest.Stored(t, f.Apply(nil))
	assert.True(t, pipeline.Leads(lead, "AB-1"))
	assert.False(t, pipeline.Leads(lead, "AB-2"))
	assert.False(t, pipeline.Leads(story, "AB-1"))

	w, err := pipeline.WorkerOf(story, lead)
	require.NoError(t, err)
	plan := "resume: worker 7\nfallback: story-AB-1-s2-retry\nteam: pipeline-7\nmodel: opus\nsubagent_type: general-purpose\n"
	assert.Equal(t, plan+w.Block, w.Plan(false))
	assert.Equal(t, plan+"mode: bypassPermissions\n"+w.Block, w.Plan(true))
	assert.Equal(t, "story: AB-1\nstage: 2\nbusiness_answers: {\"who\":\"all\"}\nworktree: ../wt AB-1\nproject_root: /src\n"+w.Block, w.Prompt("", "/src"))
	assert.Equal(t, "Do AB-1 {nothing} in ../wt AB-1.\n"+w.Block, w.Prompt("Do {story} {nothing} in {worktree}.\n\n", "/src"))

	story.Doc().Merge(values.NewMap("stage", values.NewMap("spawn", values.NewMap("team", "t", "model", "small", "subagent_type", "s", "mode", "ask"))))
	w, err = pipeline.WorkerOf(story, lead)
	require.NoError(t, err)
	assert.Equal(t, "resume: worker 7\nfallback: story-AB-1-s2-retry\nteam: t\nmodel: small\nsubagent_type: s\nmode: ask\n"+w.Block, w.Plan(true))
}
