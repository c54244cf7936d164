package doctor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestJudgePace covers work saved rarely, too often, or only at its end.
func TestJudgePace(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 14, 14, 30, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const stale = 2 * time.Hour
	for _, c := range []struct {
		name  string
		pace  Pace
		stale time.Duration
		want  []string
	}{
		{"in step", Pace{Whole: true, Phases: 5, Done: 3, Checkpoints: 7, Newest: ago(time.Hour), Count: 20}, stale, nil},
		{"not saved for long", Pace{Phases: 5, Done: 2, Checkpoints: 3, Newest: ago(3 * time.Hour)}, stale, []string{"issue 42: not saved for 3 hours, with 2 of 5 phases done"}},
		{"one phase alone", Pace{Phases: 1, Newest: ago(3 * time.Hour)}, stale, nil},
		{"all is done", Pace{Phases: 5, Done: 5, Checkpoints: 5, Newest: ago(3 * time.Hour)}, stale, nil},
		{"it is over", Pace{Over: true, Phases: 5, Done: 2, Newest: ago(3 * time.Hour)}, stale, nil},
		{"nobody wants to know", Pace{Phases: 5, Newest: ago(3 * time.Hour), Heartbeat: ago(72 * time.Hour)}, 0, nil},
		{"only at the end", Pace{Whole: true, Phases: 5, Done: 5, Checkpoints: 1, Newest: now}, stale, []string{"issue 42: few checkpoints: 1 checkpoint for 5 phases that are done; git checkpoint phase done saves after each"}},
		{"a document of it", Pace{Phases: 5, Done: 5, Checkpoints: 1, Newest: now}, stale, nil},
		{"too often", Pace{Newest: now, Count: 21, Most: "build", Checkpoints: 25}, stale, []string{"issue 42: phase build has 21 checkpoints; to save less often at intervals: git config checkpoint.min-interval 60"}},
		{"a lead that is silent", Pace{Newest: now, Heartbeat: ago(72 * time.Hour)}, stale, []string{"issue 42: its lead may be dead: the last heartbeat was 3 days ago"}},
		{"a lead that is not", Pace{Newest: now, Heartbeat: ago(time.Hour)}, stale, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.pace.Issue = "42"
			var got []string
			for _, f := range JudgePace(now, c.stale, []Pace{c.pace}) {
				assert.False(t, f.Error)
				got = append(got, f.Text)
			}
			assert.Equal(t, c.want, got)
		})
	}
}
