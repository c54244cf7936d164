package pipeline

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Resume points of a story.
func TestStoryPoint(t *testing.T) {
	for _, c := range []struct{ change, want string }{
		{`"stage":0,"tasksRemaining":["T1"]`, "stage_1"},
		{`"stage":1,"verdict":"GO"`, "stage_2"},
		{`"stage":1,"verdict":"NO-GO"`, "stage_1"},
		{`"stage":2,"tasksRemaining":["T2","T3"]`, "T2"},
		{`"stage":2,"tasksRemaining":[]`, "stage_3"},
		{`"stage":3,"verdict":"FAIL"`, "stage_2"},
		{`"stage":3,"verdict":"PASS"`, "DONE"},
		{`"stage":null`, ""},
	} {
		m, err := checkpoint.DecodeDocument([]byte("{"+c.change+"}"), checkpoint.DefaultLimits)
		require.NoError(t, err)
		r := checkpoint.New()
		applyStory(m, r)
		assert.Equal(t, c.want, r.ResumeFrom(), c.change)
	}
}
