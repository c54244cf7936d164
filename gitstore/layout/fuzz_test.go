package layout_test

import (
	"os"
	"strings"
	"testing"

	"git-checkpoint/gitstore/layout/claude"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/dotagent"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/layouttest"
	"git-checkpoint/gitstore/layout/pipeline"
	"git-checkpoint/gitstore/layout/recovery"
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
	root := foreignDir(f)
	if _, err := os.Stat(root); err != nil {
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
