package layout_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/claude"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/dotagent"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/testing/layouttest"
	"git-checkpoint/gitstore/layout/pipeline"
	"git-checkpoint/gitstore/layout/recovery"

	"github.com/stretchr/testify/require"
)

// fuzzLayout fuzzes the parser of a layout. The seeds are test documents and real files.
func fuzzLayout(f *testing.F, as codec.Name, under string) {
	for _, name := range layouttest.Docs(f, string(as)) {
		f.Add(layouttest.Doc(f, name))
	}
	addReal(f, as)
	f.Fuzz(func(t *testing.T, data []byte) {
		exercise(t, as, under+strings.ToLower(string(as))+".json", data)
	})
}

// addReal adds real documents of a layout as seeds, if available. Other tests report
// missing files.
func addReal(f *testing.F, as codec.Name) {
	if _, err := os.Stat(foreignDir); err != nil {
		return
	}
	for _, real := range realFiles(f) {
		if file := imported(real); file != nil && file.Layout == as && len(real.data) < 8<<10 {
			f.Add(real.data)
		}
	}
}

func FuzzCrunch(f *testing.F)   { fuzzLayout(f, crunch.Name, "") }
func FuzzClaude(f *testing.F)   { fuzzLayout(f, claude.Name, "") }
func FuzzRecovery(f *testing.F) { fuzzLayout(f, recovery.Name, "") }
func FuzzDotagent(f *testing.F) { fuzzLayout(f, dotagent.Name, "state/") }
func FuzzPipeline(f *testing.F) { fuzzLayout(f, pipeline.Name, ".pipeline/") }

// FuzzStory fuzzes story logs.
func FuzzStory(f *testing.F) {
	f.Add([]byte("P1: \u2713 a 12:30\nP1: \u2717 b\n---\nx: [\n"))
	f.Add([]byte("phases: {P1: {status: done}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) { exercise(t, "", ".claude/checkpoints/1.2.yaml", data) })
}

// FuzzClaudeState fuzzes states of workflows. A completed state that is valid is read again
// as the same document.
func FuzzClaudeState(f *testing.F) {
	f.Add([]byte(`{"project_name": "a", "current_phase": 2, "completed_phases": [1]}`))
	f.Add([]byte(`{"workflow_state": {"project_name": "a"}, "status": null, "created_at": "x"}`))
	f.Add([]byte(`{"workflow_state": [1], "workflow_type": "implement", "checkpoint_id": 7}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := layout.Workflow{Type: "implement", Project: "a", Now: time.Unix(1_800_000_000, 0)}
		file, err := layout.Find(claude.Name).ReadState("", data, w)
		if err != nil || file.Err(false) != nil {
			return
		}
		w.Before = file.Apply(nil)
		out, err := layout.Find(claude.Name).Of(w.Before)
		require.NoError(t, err)
		again, err := layout.Read(claude.Name, "", out[0].Data)
		require.NoError(t, err)
		require.NoError(t, again.Err(false))
		require.True(t, checkpoint.Equal(file.Doc, again.Doc), "%s", out[0].Data)
		_, err = layout.Find(claude.Name).ReadState("", data, w)
		require.NoError(t, err)
	})
}
