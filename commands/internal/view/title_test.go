package view

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
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

var noon = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

func entry(id, phase, note string) Entry {
	cp := &gitstore.Checkpoint{ID: checkpoint.ID(id), Phase: phase, Trigger: checkpoint.Manual, Created: noon.Add(-2 * time.Hour)}
	return Entry{Checkpoint: cp, Title: note, Change: &gitstore.Totals{Files: 3, Added: 12, Deleted: 4}, Resumable: true}
}

// An id too wide for the column gets separate lines without truncation, because users
// type it.
func TestTimelineShowsLongIDsInFull(t *testing.T) {
	entries := []Entry{entry("8a866466", "docs", "a"), entry("checkpoint-of-another-system-20250101", "docs", "b")}
	want := `docs
    r  2h  8a866466  3 files +12 -4
       a
    r  2h            3 files +12 -4
       checkpoint-of-another-system-2025
       0101
       b
`
	assert.Equal(t, want, Screen{Width: 40}.Timeline(entries, noon))
	assert.Contains(t, Screen{Width: 80}.Timeline(entries, noon), "2h  checkpoint-of-another-system-20250101  b  3 files +12 -4\n")
	assert.Empty(t, Screen{}.Timeline(nil, noon))
	assert.Equal(t, "\nr resumable\n", Screen{Width: 40}.Legend(entries[:1], nil, entries[1:]))
	assert.Empty(t, Screen{}.Legend(nil))
}

// FuzzTimeline checks that arbitrary record text produces clean lines within the width.
func FuzzTimeline(f *testing.F) {
	f.Add("CP-1", "docs", "note", "manual", 40)
	f.Add("\x1b[2J", "\u202e", "a\u200db\u0301\u0301\n\r\t", "日本語", 41)
	f.Add("x", "\ufeff\u00ad", "\xff\xfe", "👩‍💻👩‍💻", 72)
	f.Fuzz(func(t *testing.T, id, phase, note, trigger string, width int) {
		s := Screen{Width: 40 + abs(width)%161}
		e := entry(id, phase, note)
		e.Checkpoint.Trigger, e.Problem, e.By = checkpoint.Trigger(trigger), note, trigger
		entries := []Entry{e, entry("8a866466", phase, note)}
		checkLines(t, s, s.Timeline(entries, noon)+s.Legend(entries))
	})
}

func abs(n int) int { return max(n, -(n + 1)) }

// checkLines checks properties of every screen: width, valid UTF-8, clean text.
func checkLines(t *testing.T, s Screen, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		assert.LessOrEqual(t, Width(line), s.Width, "%q", line)
		assert.True(t, utf8.ValidString(line), "%q", line)
		assert.Equal(t, Clean(line), line)
	}
}

func TestMarks(t *testing.T) {
	cp := &gitstore.Checkpoint{}
	for want, e := range map[string]Entry{
		"   ": {Checkpoint: cp}, "*pr": {Checkpoint: &gitstore.Checkpoint{Pinned: true}, Tip: true, Resumable: true},
		"a s": {Checkpoint: &gitstore.Checkpoint{Archived: true}, Tip: true, Resumable: true, Stale: true},
		"  !": {Checkpoint: cp, Problem: "x", Resumable: true, Stale: true},
	} {
		assert.Equal(t, want, e.marks(), fmt.Sprintf("%+v", e))
	}
}

func TestGraph(t *testing.T) {
	for name, tt := range map[string]struct {
		edges string // "id:parent,parent" newest first
		want  string
	}{
		"a line":                {"c:b b:a a:", "*  c\n*  b\n*  a\n"},
		"a merge":               {"d:c,b c:a b:a a:", "*  d\n|\\\n* |  c\n| *  b\n|/\n*  a\n"},
		"three at once":         {"d:a c:a b:a a:", "*  d\n| *  c\n| | *  b\n|_|/\n|/\n*  a\n"},
		"across another lane":   {"e:b d:a c:b b:a a:", "*  e\n| *  d\n| | *  c\n|_|/\n* |  b\n|/\n*  a\n"},
		"a root beside a lane":  {"c: b:a a:", "*  c\n\n*  b\n*  a\n"},
		"a root left of a lane": {"d:b c:a b: a:", "*  d\n| *  c\n* |  b\n /\n*  a\n"},
		"an unknown parent":     {"c:x b:a a:", "*  c\n\n*  b\n*  a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var nodes []GraphNode
			for _, word := range strings.Fields(tt.edges) {
				id, parents, _ := strings.Cut(word, ":")
				n := GraphNode{ID: id, Entry: &Entry{Title: id, Checkpoint: &gitstore.Checkpoint{ID: checkpoint.ID(id)}}}
				if parents != "" {
					n.Parents = strings.Split(parents, ",")
				}
				nodes = append(nodes, n)
			}
			var lines []string
			for line := range strings.Lines(Screen{}.Graph(nodes, time.Time{})) {
				marks, text, _ := strings.Cut(line, "  ")
				if text != "" {
					words := strings.Fields(text)
					marks += "  " + words[0]
				}
				lines = append(lines, strings.TrimRight(marks, " \n")+"\n")
			}
			assert.Equal(t, tt.want, strings.Join(lines, ""))
		})
	}
}
