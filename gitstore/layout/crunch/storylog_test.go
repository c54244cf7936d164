package crunch_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/claude"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/internal/testing/layouttest"
)

// Each line of a story log is a phase event.
func TestStoryLogs(t *testing.T) {
	for _, c := range []struct {
		name, text string
		warnings   []string
		done       []string
		current    string
	}{
		{"lines", "# log\nP2: ✓ test-writer 12:40 files:1\nP3: ✓ backend 13:00\n", []string{"12:40 and the like are times without a date (time)"}, []string{"P2", "P3"}, "P3"},
		{"a phase twice", "P2: ✓ a\nP2: ✓ b\n", []string{`line 2, column 1: kept unchanged, its lines are read: key "P2" is a duplicate, at byte 10 of 20 (syntax)`}, []string{"P2"}, "P2"},
		{"sent back", "P3: ✓ a\nP5: ✗ b issues:2\n", nil, []string{"P3"}, "P5"},
		{"sent back and mended", "P5: ✗ b\nP3-FIX: ✓ a\nP6: SKIP none\n", nil, []string{"P3", "P6"}, "P6"},
		{"two documents", "P1: ✓ a\n---\ndone: yes\n", []string{"line 2, column 1: kept unchanged, its lines are read: a second document begins here, want one, at byte 10 of 24 (syntax)"}, []string{"P1"}, "P1"},
		{"no YAML", "TASK: a: b\nP1: \"COMPLETE\"\n", []string{"line 1, column 8: kept unchanged, its lines are read: mapping values are not allowed in this context, at byte 7 of 26 (syntax)"}, []string{"P1"}, "P1"},
		{"a mapping of phases", "phases:\n  P1: {status: skipped}\n  P2: {status: pending}\n", nil, []string{"P1"}, "P2"},
		{"a list of phases", "phases:\n  - {phase: P1, status: completed}\n", nil, []string{"P1"}, "P1"},
		{"a mapping of words", "phases:\n  P1: completed\n  P2: pending\n", nil, []string{"P1"}, "P2"},
		{"nothing that is known", "notes: some\n", nil, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := layout.Read("", "a/.claude/checkpoints/7.2.yaml", []byte(c.text))
			require.NoError(t, err)
			assert.Equal(t, "story", f.Kind)
			assert.Equal(t, "7.2", f.Key())
			var warnings []string
			for _, p := range f.Problems {
				warnings = append(warnings, p.String())
			}
			assert.Equal(t, c.warnings, warnings)
			require.NoError(t, f.Err(false))
			if len(c.warnings) > 0 {
				require.Error(t, f.Err(true), "strict reading refuses it")
			}
			r := layouttest.Stored(t, f.Apply(nil))
			assert.Equal(t, c.done, r.Progress().Completed)
			assert.Equal(t, c.current, r.Progress().Current)
			assert.False(t, progress.Complete(r), "no total is stated")
			out, err := layout.Find(crunch.Name).Of(r)
			require.NoError(t, err)
			require.Len(t, out, 1)
			assert.Equal(t, "7.2.yaml", out[0].Path)
			assert.Equal(t, c.text, string(out[0].Data))
		})
	}
	for name, data := range map[string]string{
		"elsewhere/7.2.yaml":            "P1: ✓ a\n",
		".claude/checkpoints/7.2.json":  "P1: ✓ a\n",
		".claude/checkpoints/x.yaml":    "P1: \xff\n",
		".claude/checkpoints/y.yaml":    " \n",
		".claude/checkpoints/z.yaml":    "P1: \x00\n",
		".claude/checkpoints/conf.yaml": "checkpoint:\n  enabled: true\n",
	} {
		_, err := layout.Read("", name, []byte(data))
		require.Error(t, err, name)
	}
	_, err := layout.Read(claude.Name, ".claude/checkpoints/7.2.yaml", []byte("P1: ✓ a\n"))
	require.Error(t, err)
}

// A log that states the end of its work is complete; a phase that was reached is not the end.
func TestStoryLogWithoutTotalIsNotComplete(t *testing.T) {
	for text, complete := range map[string]bool{
		"P2: ✓ tests\nP3: ✓ backend tests:80/105\n":   false,
		"P2: ✓ tests\nP7: ✓ writer\n\nstatus: DONE\n": true,
		"status: in_progress\nP2: ✓ tests\n":          false,
	} {
		f, err := layout.Read("", "a/.claude/checkpoints/7.2.yaml", []byte(text))
		require.NoError(t, err)
		assert.Equal(t, complete, progress.Complete(layouttest.Stored(t, f.Apply(nil))), text)
	}
}
