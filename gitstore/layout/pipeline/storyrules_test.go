package pipeline_test

import (
	"fmt"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/pipeline"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stories are valid documents, one per stage.
var stories = []string{
	`{"storyId":"S","stage":0,"agentId":"a","tasksCompleted":[],"tasksRemaining":["T1"],"lastAction":"l","timestamp":"2026-01-01T00:00:00Z","planScore":4}`,
	`{"storyId":"S","stage":1,"agentId":"a","tasksCompleted":[],"tasksRemaining":[],"lastAction":"l","timestamp":"2026-01-01T00:00:00Z","readiness":7,"verdict":"GO"}`,
	`{"storyId":"S","stage":2,"agentId":"a","tasksCompleted":["T1"],"tasksRemaining":["T2"],"lastAction":"l","timestamp":"2026-01-01T00:00:00Z"}`,
	`{"storyId":"S","stage":3,"agentId":"a","tasksCompleted":["T1","T2"],"tasksRemaining":[],"lastAction":"l","timestamp":"2026-01-01T00:00:00Z","verdict":"PASS","qualityScore":92}`,
}

// Each stage is tested with missing, invalid and foreign fields.
func TestStages(t *testing.T) {
	for stage, text := range stories {
		common := []string{
			"storyId", "-", "storyId: missing (required)",
			"stage", "9", "stage: want 0 to 3, got 9 (range)",
			"stage", "4", "stage: want 0 to 3, got 4 (range)",
			"stage", "-1", "stage: want 0 to 3, got -1 (range)",
			"stage", `"third"`, `stage: want an integer from 0 to 3, got "third" (kind)`,
			"stage", fmt.Sprintf(`"%d"`, stage), fmt.Sprintf(`? stage: "%d" is read as %d (kind)`, stage, stage),
			"stage", fmt.Sprintf(`"STAGE_%d"`, stage), fmt.Sprintf(`? stage: "STAGE_%d" is read as %d (kind)`, stage, stage),
			"stage", fmt.Sprintf(`"stage_%d_work"`, stage), fmt.Sprintf(`? stage: "stage_%d_work" is read as %d (kind)`, stage, stage),
			"agentId", "-", "? agentId: missing: a document of 4.0.0 (required)",
			"tasksCompleted", "-", "tasksCompleted: missing (required)",
			"tasksRemaining", `"T1"`, `tasksRemaining: want a list, got "T1" (kind)`,
			"lastAction", `""`, "lastAction: empty (required)",
		}
		own := [][]string{
			{
				"planScore", "-1", "planScore: want 0 to 4, got -1 (range)",
				"planScore", `"3"`, `? planScore: "3" is a number written as text (kind)`,
				"planScore", `"high"`, `planScore: want a number, got "high" (kind)`,
				"tasksRemaining", `["T1","T1"]`, `? tasksRemaining[1]: "T1" is a duplicate (consistency)`,
				"verdict", `"GO"`, "verdict: stage 0 has none (place)",
				"qualityScore", "50", "? qualityScore: stage 0 has none (place)",
			},
			{
				"readiness", "0", "readiness: want 1 to 10, got 0 (range)",
				"planScore", "3", "? planScore: stage 1 has none (place)",
			},
			{
				"readiness", "3", "? readiness: stage 2 has none (place)",
				"verdict", `"PASS"`, "verdict: stage 2 has none (place)",
				"issues", `"x"`, "? issues: stage 2 has none (place)",
			},
			{
				"qualityScore", "-1", "qualityScore: want 0 to 100, got -1 (range)",
				"qualityScore", "9.1", "? qualityScore: 9.1 looks like a scale of 0 to 10 (range)",
				"issues", `"x"`, "? issues: there are some, but the verdict is not FAIL (consistency)",
				"readiness", "3", "? readiness: stage 3 has none (place)",
			},
		}
		assert.Empty(t, storyProblems(t, text, "", ""), "stage %d", stage)
		cases := append(common, own[stage]...)
		for i := 0; i < len(cases); i += 3 {
			got := storyProblems(t, text, cases[i], cases[i+1])
			assert.Contains(t, got, cases[i+2], "stage %d, %s = %s", stage, cases[i], cases[i+1])
		}
	}
}

func storyProblems(t *testing.T, text, path, value string) []string {
	t.Helper()
	m, err := checkpoint.DecodeDocument([]byte(text), checkpoint.DefaultLimits)
	require.NoError(t, err)
	switch value {
	case "":
	case "-":
		m.Delete(path)
	default:
		m.Set(path, checkpoint.ParseValue(value))
	}
	data, err := m.MarshalJSON()
	require.NoError(t, err)
	f, err := layout.Read(pipeline.Name, "checkpoint-S.json", data)
	require.NoError(t, err)
	var out []string
	for _, p := range f.Problems {
		mark := ""
		if p.Warning {
			mark = "? "
		}
		p.Line = 0
		if p.Rule == "name" {
			continue
		}
		out = append(out, mark+p.String())
	}
	return out
}
