package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/internal/testing/layouttest"
	"git-checkpoint/gitstore/layout/pipeline"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// worker applies a worker's document to a record, like a save.
func worker(t *testing.T, r *checkpoint.Record, text string) *checkpoint.Record {
	t.Helper()
	f, err := layout.Read(pipeline.Name, "checkpoint-S.json", []byte(text))
	require.NoError(t, err)
	require.NoError(t, f.Err(false))
	return layouttest.Stored(t, f.Apply(r))
}

// atSecond sets the time of a document.
func atSecond(text string, second int) string {
	return strings.Replace(text, "00:00:00Z", fmt.Sprintf("00:00:%02dZ", second), 1)
}

// A verdict that sends a story back counts once per document.
func TestVerdictsAreCounted(t *testing.T) {
	fail := strings.Replace(stories[3], `"PASS"`, `"FAIL","issues":"slow"`, 1)
	noGo := strings.Replace(stories[1], `"GO"`, `"NO-GO","reason":"unclear"`, 1)
	r := worker(t, nil, stories[0])
	assert.Nil(t, r.Doc().Sub("pipeline"))
	r = worker(t, r, noGo)
	r = worker(t, r, noGo)
	assert.Equal(t, 1, story.ValidationRetries.Count(r, "S"), "the same one twice")
	r = worker(t, r, stories[2])
	for second := range 3 {
		require.NoError(t, story.Err(r, "S"))
		r = worker(t, r, atSecond(fail, second))
		assert.Equal(t, second+1, story.QualityCycles.Count(r, "S"))
	}
	require.EqualError(t, story.Err(r, "S"), "story S is paused: the quality gate failed 3 times, the limit is 2")
	r = worker(t, r, stories[3])
	assert.Equal(t, 3, story.QualityCycles.Count(r, "S"), "a PASS counts nothing")
	out, err := layout.Find(pipeline.Name).Of(r)
	require.NoError(t, err)
	require.Len(t, out, 1, "the counters make no state.json")
	assert.Equal(t, stories[3], string(out[0].Data))
}

// Two workers complete different tasks of a story without knowledge of each other.
func TestWorkersOfOneStory(t *testing.T) {
	at := func(done, left string, second int) string {
		return atSecond(fmt.Sprintf(`{"storyId":"S","stage":2,"agentId":"a","tasksCompleted":[%s],"tasksRemaining":[%s],"lastAction":"l","timestamp":"2026-01-01T00:00:00Z"}`, done, left), second)
	}
	r := worker(t, nil, strings.Replace(stories[0], `["T1"]`, `["T1","T2","T3"]`, 1))
	r = worker(t, r, at(`"T1"`, `"T2","T3"`, 1))
	r = worker(t, r, at(`"T2"`, `"T1","T3"`, 2))
	assert.Equal(t, "T3", r.ResumeFrom())
	out, err := layout.Find(pipeline.Name).Of(r)
	require.NoError(t, err)
	assert.Contains(t, string(out[0].Data), `"tasksCompleted":["T2","T1"],"tasksRemaining":["T3"]`)
	r = worker(t, r, at(`"T3"`, ``, 3))
	assert.Equal(t, "stage_3", r.ResumeFrom(), "tasks that a document leaves out stay complete")

	r = worker(t, r, strings.Replace(stories[3], `["T1","T2"]`, `["T1","T2","T3"]`, 1))
	r = worker(t, r, at(`"T1","T2"`, `"T3"`, 4))
	assert.Equal(t, "T3", r.ResumeFrom(), "back from a gate, the document says what is to be done again")
}

// Task values other than the status survive a new document.
func TestTasksKeepOtherValues(t *testing.T) {
	r := worker(t, nil, stories[2])
	tasks := r.Doc().Sub("tasks")
	tasks.Sub("T2").Set("status", "running")
	tasks.Sub("T2").Set("attempts", 2)
	r = worker(t, r, atSecond(stories[2], 5))
	assert.Equal(t, "running", r.Doc().Sub("tasks").Sub("T2").Text("status"))
	r = worker(t, r, atSecond(strings.Replace(strings.Replace(stories[2], `["T2"]`, `[]`, 1), `["T1"]`, `["T1","T2"]`, 1), 6))
	assert.Equal(t, "complete", r.Doc().Sub("tasks").Sub("T2").Text("status"))
	assert.Equal(t, "2", r.Doc().Sub("tasks").Sub("T2").Text("attempts"))
}
