package layout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore/layout/internal/codec"
)

// fuzzLayout fuzzes the parser of a layout. The seeds are test documents and real files.
func fuzzLayout(f *testing.F, as codec.Name, under string) {
	names, err := filepath.Glob(filepath.Join("testdata", "docs", string(as)+"*"))
	require.NoError(f, err)
	require.NotEmpty(f, names)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(data)
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

func FuzzCrunch(f *testing.F)   { fuzzLayout(f, Crunch, "") }
func FuzzClaude(f *testing.F)   { fuzzLayout(f, Claude, "") }
func FuzzRecovery(f *testing.F) { fuzzLayout(f, Recovery, "") }
func FuzzDotagent(f *testing.F) { fuzzLayout(f, Dotagent, "state/") }
func FuzzPipeline(f *testing.F) { fuzzLayout(f, Pipeline, ".pipeline/") }

// FuzzStory fuzzes story logs.
func FuzzStory(f *testing.F) {
	f.Add([]byte("P1: \u2713 a 12:30\nP1: \u2717 b\n---\nx: [\n"))
	f.Add([]byte("phases: {P1: {status: done}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) { exercise(t, "", ".claude/checkpoints/1.2.yaml", data) })
}
