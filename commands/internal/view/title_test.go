package view

import (
	"slices"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var savedAt = time.Date(2026, 2, 3, 10, 0, 0, 0, time.UTC)

func recordOf(t *testing.T, text string) *checkpoint.Record {
	t.Helper()
	r, err := checkpoint.Decode([]byte("version: \"1.0\"\n" + text))
	require.NoError(t, err)
	return r
}

func TestTitleIsNoteThenSummaryThenEvent(t *testing.T) {
	for _, c := range []struct {
		want, record, before string
		cp                   gitstore.Checkpoint
	}{
		{"half way", "context_summary: s", "", gitstore.Checkpoint{Trigger: checkpoint.Manual, Note: "half way\nmore"}},
		{"parser done", "context_summary: |\n  parser done\n  tests open", "", gitstore.Checkpoint{Trigger: checkpoint.BatchComplete}},
		{"Batch 12 done", "context_summary: old\nexecution_graph: {current_batch: 13}", "context_summary: old", gitstore.Checkpoint{Trigger: checkpoint.BatchComplete}},
		{"Batch done", "", "", gitstore.Checkpoint{Trigger: checkpoint.BatchComplete}},
		{"Batch 3 started", "execution_graph: {current_batch: 3}", "", gitstore.Checkpoint{Trigger: checkpoint.BatchStart}},
		{"Turn: fix the tests", "", "", gitstore.Checkpoint{Trigger: checkpoint.Turn, Note: "fix the tests\nall of them"}},
		{"Turn of the agent", "", "", gitstore.Checkpoint{Trigger: checkpoint.Turn}},
		{"Phase 2 done", "", "", gitstore.Checkpoint{Trigger: checkpoint.PhaseTransition, Note: "phase 2 done"}},
		{"Phase build done: parser", "", "", gitstore.Checkpoint{Trigger: checkpoint.PhaseTransition, Phase: "build", Note: "build done: parser"}},
		{"Phase build started", "workflow_state: {phase_started_at: 2026-02-03T10:00:00Z}", "", gitstore.Checkpoint{Trigger: checkpoint.PhaseTransition, Phase: "build", Created: savedAt}},
		{"Phase build", "workflow_state: {phase_started_at: 2026-02-03T09:00:00Z}", "", gitstore.Checkpoint{Trigger: checkpoint.PhaseTransition, Phase: "build", Created: savedAt}},
		{"Phase build done", "progress: {completed: [build]}", "", gitstore.Checkpoint{Trigger: checkpoint.PhaseTransition, Phase: "build", Created: savedAt}},
		{"coder write done", "agent_outputs: {planner: {plan: {completed_at: 2026-02-03T08:00:00Z}}, coder: {write: {completed_at: 2026-02-03T09:00:00Z}}}", "", gitstore.Checkpoint{Trigger: checkpoint.AgentComplete}},
		{"Conflict c-1 started", "acp_state: {conflicts_in_progress: [c-1]}", "", gitstore.Checkpoint{Trigger: checkpoint.ConflictStart}},
		{"Session ended", "", "", gitstore.Checkpoint{Trigger: checkpoint.SessionEnd}},
		{"make release: exit code 2", "", "", gitstore.Checkpoint{Trigger: checkpoint.SessionEnd, Note: "make release: exit code 2"}},
		{"Interrupted", "", "", gitstore.Checkpoint{Trigger: checkpoint.UserInterrupt}},
		{"Nightly build", "", "", gitstore.Checkpoint{Trigger: "nightly_build"}},
	} {
		before := recordOf(t, c.before)
		assert.Equal(t, c.want, Title(&c.cp, recordOf(t, c.record), before))
	}
	assert.Equal(t, "Batch done", Title(&gitstore.Checkpoint{Trigger: checkpoint.BatchComplete}, nil, nil), "without records")
}

func TestRunsFoldAutomaticCheckpoints(t *testing.T) {
	cp := func(trigger checkpoint.Trigger, phase, note string) gitstore.Checkpoint {
		return gitstore.Checkpoint{Trigger: trigger, Phase: phase, Note: note}
	}
	batch, manual := cp(checkpoint.BatchComplete, "build", ""), cp(checkpoint.Manual, "build", "")
	pinned := batch
	pinned.Pinned = true
	list := []gitstore.Checkpoint{
		batch,               // the newest stays alone
		batch, batch, batch, // a run
		manual,
		batch, batch, // too few
		cp(checkpoint.BatchComplete, "test", ""),
		pinned,
		cp(checkpoint.SessionEnd, "", "make: exit code 2"),
		cp(checkpoint.Turn, "", "a"), cp(checkpoint.Turn, "", "b"), cp(checkpoint.SessionEnd, "", ""),
	}
	picked := make([]int, len(list))
	for i := range list {
		picked[i] = i
	}
	assert.Equal(t, [][]int{{0}, {1, 2, 3}, {4}, {5}, {6}, {7}, {8}, {9}, {10, 11, 12}}, Runs(list, picked))
	assert.Equal(t, [][]int{{1, 2, 3}, {4}}, Runs(list, picked[1:5]), "the newest of the list is not picked")
}

func TestRunTitleCountsEachKind(t *testing.T) {
	at := func(trigger checkpoint.Trigger, ago time.Duration) gitstore.Checkpoint {
		return gitstore.Checkpoint{Trigger: trigger, Created: savedAt.Add(-ago)}
	}
	assert.Equal(t, "3 batches, 3 h", RunTitle([]gitstore.Checkpoint{
		at(checkpoint.BatchComplete, 0), at(checkpoint.BatchComplete, time.Hour), at(checkpoint.BatchComplete, 3*time.Hour),
	}))
	assert.Equal(t, "2 turns, 1 session end", RunTitle([]gitstore.Checkpoint{
		at(checkpoint.Turn, 0), at(checkpoint.Turn, time.Second), at(checkpoint.SessionEnd, 2*time.Second),
	}))
}

func TestRangesListSequencesAsRanges(t *testing.T) {
	var many []int
	for i := range 115 {
		many = append(many, i+1)
	}
	for _, c := range []struct {
		n    []int
		want string
	}{
		{nil, ""},
		{[]int{4}, "4"},
		{[]int{1, 2}, "1, 2"},
		{[]int{1, 2, 3}, "1-3"},
		{many, "1-115"},
		{[]int{9, 3, 1, 2, 7, 8, 5}, "1-3, 5, 7-9"},
		{[]int{2, 2, 3}, "2, 3"},
	} {
		before := slices.Clone(c.n)
		assert.Equal(t, c.want, Ranges(c.n))
		assert.Equal(t, before, c.n)
	}
}

func TestSpentUsesTheTwoLargestUnits(t *testing.T) {
	for minutes, want := range map[int]string{
		0: "0 min", 59: "59 min", 60: "1 h", 61: "1 h 1 min", 1439: "23 h 59 min", 1440: "1 d",
		1470: "1 d", 3200: "2 d 5 h",
	} {
		assert.Equal(t, want, Spent(minutes), minutes)
	}
}

func TestEveryTriggerHasTexts(t *testing.T) {
	for _, trigger := range checkpoint.Triggers() {
		assert.NotNil(t, triggers[trigger].event, trigger)
		assert.NotEqual(t, "other", Category(&gitstore.Checkpoint{Trigger: trigger}), trigger)
	}
	assert.Len(t, triggers, len(checkpoint.Triggers()))
	assert.Equal(t, "other", Category(&gitstore.Checkpoint{Trigger: "zap"}))
}
