package freshness

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
)

// TestSafeToResume compares all six texts byte for byte. The first failed condition
// decides. Each case has an expected result for a resume without a terminal.
func TestSafeToResume(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		name   string
		change func(*world)
		want   string
	}{
		{"nothing against it", func(*world) {}, "All conditions met"},
		{"all said", func(w *world) {
			w.workflow("tests_passing", true)
			w.workflow("status", "in_progress")
			w.workflow("last_error", "")
		}, "All conditions met"},
		{"tests", func(w *world) { w.workflow("tests_passing", false) }, "Tests failing in last run"},
		{"error", func(w *world) { w.workflow("last_error", "boom") }, "Last run had errors"},
		{"status", func(w *world) { w.workflow("status", "failed") }, "Checkpoint status: failed (expected: in_progress)"},
		{"status with control characters", func(w *world) { w.workflow("status", "\x1b[2J") }, `Checkpoint status: "\x1b[2J" (expected: in_progress)`},
		{"status in another spelling", func(w *world) { w.workflow("status", "In Progress") }, "All conditions met"},
		{"age", func(w *world) { w.record.SetCreatedAt(noon.Add(-9 * day)) }, "Checkpoint 9 days old (max: 7 days)"},
		{"age just over", func(w *world) { w.record.SetCreatedAt(noon.Add(-7*day - time.Second)) }, "Checkpoint 7 days old (max: 7 days)"},
		{"age at the limit", func(w *world) { w.record.SetCreatedAt(noon.Add(-7 * day)) }, "All conditions met"},
		{"age unknown", func(w *world) { w.record.Doc().Delete("created_at") }, "All conditions met"},
		{"plan", func(w *world) { w.facts.Plan.Changed = true }, "Plan file modified since checkpoint"},
		{"the first of all", func(w *world) {
			w.facts.Plan.Changed = true
			w.record.SetCreatedAt(noon.Add(-9 * day))
			w.workflow("status", "failed")
			w.workflow("last_error", "boom")
			w.workflow("tests_passing", false)
		}, "Tests failing in last run"},
		{"the first of three", func(w *world) {
			w.facts.Plan.Changed = true
			w.record.SetCreatedAt(noon.Add(-9 * day))
			w.workflow("status", "failed")
		}, "Checkpoint status: failed (expected: in_progress)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := fresh()
			c.change(w)
			v := w.judge()
			assert.Equal(t, c.want, v.AutoReason)
			assert.Equal(t, c.want == AllMet, v.AutoResume)
			assert.LessOrEqual(t, v.Action, ProceedWithWarning, "a person is there")

			w.rules.Auto = true
			auto := w.judge()
			if !v.AutoResume {
				assert.Equal(t, PromptUser, auto.Action)
				assert.Contains(t, auto.Warnings(), c.want)
				return
			}
			assert.Equal(t, v.Action, auto.Action)
		})
	}
}

func TestKnownPhase(t *testing.T) {
	for _, c := range []struct {
		phase         string
		phases, names []string
		layout        string
		want          bool
	}{
		{"party", nil, nil, "", true},
		{"docs", nil, nil, "crunch", true},
		{"e2e", nil, nil, "crunch", true},
		{"party", nil, nil, "crunch", false},
		{"docs", []string{"plan"}, nil, "", false},
		{"docs", []string{"plan"}, nil, "crunch", false},
		{"e2e", []string{"plan"}, nil, "", false},
		{"plan", []string{"plan"}, nil, "", true},
		{"ship", nil, []string{"ship"}, "", true},
		{"docs", nil, []string{"ship"}, "crunch", false},
		{"plan", []string{"plan"}, []string{"ship"}, "", true},
	} {
		record := checkpoint.New()
		record.SetProgress(checkpoint.Progress{Names: c.names})
		record.Doc().MustSub("layout").Set("name", c.layout)
		r := Rules{Phases: c.phases}
		assert.Equal(t, c.want, r.KnownPhase(c.phase, record), "%+v", c)
	}
}
