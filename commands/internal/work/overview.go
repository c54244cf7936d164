package work

import (
	"cmp"
	"slices"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
)

// Overview returns the progress of the issues that were saved last, the last first. It asks no forge
// for the issues.
func Overview(c *invoke.Invocation, last gitstore.LastSaved) (found []view.IssueSummary) {
	quiet := c.Out.Quiet
	c.Out.Quiet = true
	defer func() { c.Out.Quiet = quiet }()
	defer c.Store.CacheRefs(c.Ctx)()
	look := &gitstore.Look{}
	for _, t := range last.Tips {
		found = append(found, summary(c, t.Issue, look))
	}
	slices.SortStableFunc(found, func(a, b view.IssueSummary) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return found
}

func summary(c *invoke.Invocation, i checkpoint.Issue, look *gitstore.Look) view.IssueSummary {
	s := view.IssueSummary{Issue: string(i)}
	p, err := c.Store.Point(c.Ctx, i)
	if err != nil {
		s.Note = err.Error()
		return s
	}
	cp := p.Checkpoint
	s.CheckpointID, s.CreatedAt, s.Branch, s.Note = string(cp.ID), cp.Created, cp.Branch, cp.Note
	r, err := c.Store.VerifiedRecord(cp)
	if err != nil {
		return s
	}
	judged, err := Judge(c, cp, r, JudgeOptions{Issue: IssueOptions{Offline: true}, Look: look})
	if err != nil {
		return s
	}
	r = judged.Record
	at, done := judged.Verdict.At, r.Progress()
	s.Action, s.Valid, s.Complete = judged.Verdict.Action.String(), true, at.Complete
	s.CurrentPhase, s.CompletedPhases, s.Remaining = at.Phase, done.Completed, done.Remaining
	s.Progress = view.BriefProgress(at, done)
	if story.IsLead(r) {
		s.Progress = view.StoryCount(story.Stories(r))
	}
	return s
}

// ShowOverview prints one line for each issue: its state, phase, branch, age and note. Then it
// prints the number of other issues. color is the value of --color.
func ShowOverview(c *invoke.Invocation, issues []view.IssueSummary, others int, color string) error {
	at, _, err := c.Screen(color)
	if err != nil {
		return err
	}
	rows := make([][]string, len(issues))
	for n, s := range issues {
		rows[n] = []string{
			s.Issue, state(s), s.Progress, cmp.Or(s.Branch, "-"), view.Ago(s.CreatedAt, c.Env.Now()), view.FirstLine(s.Note),
		}
	}
	c.Printf("%s", at.Columns(rows))
	if others > 0 {
		c.Infof("%s not shown, saved earlier", view.Plural(others, "other issue"))
		c.Infof("hint: git checkpoint list -n %d, or git checkpoint list --all", len(issues)+others)
	}
	return nil
}

// state returns the word for the state of an issue.
func state(s view.IssueSummary) string {
	switch {
	case !s.Valid:
		return "invalid"
	case s.Complete:
		return "complete"
	}
	return s.Action
}
