package doctor

import (
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/layout"
)

// checkPace warns about issues with too few or too many saves.
func checkPace(c *invoke.Invocation, issues []checkpoint.Issue, result *output.Doctor) {
	var paces []gitstore.Pace
	for _, i := range issues {
		if p, ok := paceOf(c, i); ok {
			paces = append(paces, p)
		}
	}
	stale := time.Duration(c.Settings.Int("stale_minutes")) * time.Minute
	for _, f := range gitstore.JudgePace(c.Env.Now(), stale, paces) {
		result.Warnings = append(result.Warnings, f.Text)
	}
}

// paceOf returns the figures of an issue that gitstore.JudgePace needs. It returns false if
// the issue has no checkpoint or its newest record cannot be read; other checks report
// unreadable records.
func paceOf(c *invoke.Invocation, issue checkpoint.Issue) (gitstore.Pace, bool) {
	l, err := c.Store.List(c.Ctx, issue, 0)
	if err != nil || len(l.Checkpoints) == 0 {
		return gitstore.Pace{}, false
	}
	r, err := c.Store.Record(&l.Checkpoints[0])
	if err != nil {
		return gitstore.Pace{}, false
	}
	done := r.Progress()
	p := gitstore.Pace{
		Issue: string(issue), Over: progress.Over(r), Whole: r.Layout() == "" && l.Complete && !l.Cut,
		Phases: done.Total, Done: len(done.Completed) + len(done.Skipped),
		Checkpoints: len(l.Checkpoints), Newest: r.CreatedAt(), Heartbeat: layout.Heartbeat(r),
	}
	counts := map[string]int{}
	for _, cp := range l.Checkpoints {
		if counts[cp.Phase]++; cp.Phase != "" && counts[cp.Phase] > p.Count {
			p.Most, p.Count = cp.Phase, counts[cp.Phase]
		}
	}
	return p, true
}
