package standing

import (
	"cmp"
	"fmt"
	"slices"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/issuesource"
	"git-checkpoint/commands/internal/judge"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
)

// Overview returns the progress of issues, the last saved first. It asks no forge for the
// issues.
func Overview(c *invoke.Invocation, issues []checkpoint.Issue) []output.IssueSummary {
	quiet := c.Quiet
	c.Quiet = true
	defer func() { c.Quiet = quiet }()
	found := make([]output.IssueSummary, len(issues))
	look := &gitstore.Look{}
	for n, i := range issues {
		found[n] = summary(c, i, look)
	}
	slices.SortStableFunc(found, func(a, b output.IssueSummary) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return found
}

func summary(c *invoke.Invocation, i checkpoint.Issue, look *gitstore.Look) output.IssueSummary {
	s := output.IssueSummary{Issue: string(i)}
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
	o := judge.Options{Issue: issuesource.Options{Offline: true}, Look: look}
	r, o.Stories = judge.JoinStories(c, r)
	v, err := judge.Verdict(c, cp, r, o)
	if err != nil {
		return s
	}
	at := Of(r, v)
	s.Action, s.Valid, s.Complete = v.Action.String(), true, at.Complete
	s.CurrentPhase, s.CompletedPhases, s.Remaining = at.Phase, at.Completed, at.Remaining
	s.Progress = briefProgress(at, r.Progress())
	if story.IsLead(r) {
		s.Progress = storyCount(story.Stories(r))
	}
	return s
}

// briefProgress returns a text such as "phase 3 of 5 (build)".
func briefProgress(at standing, p checkpoint.Progress) string {
	switch {
	case at.Complete && p.Total > 0:
		return phrase.Plural(p.Total, "phase")
	case p.Total == 0 && at.Phase == "":
		return "-"
	case p.Total == 0:
		return at.Phase
	}
	n := slices.Index(p.Names, at.Phase) + 1
	switch {
	case n == 0:
		return fmt.Sprintf("phase %s of %d", at.Phase, p.Total)
	case fmt.Sprint(n) == at.Phase:
		return fmt.Sprintf("phase %d of %d", n, p.Total)
	}
	return fmt.Sprintf("phase %d of %d (%s)", n, p.Total, at.Phase)
}

// ShowOverview prints one line for each issue: its state, phase, branch, age and note.
// color is the value of --color.
func ShowOverview(c *invoke.Invocation, issues []output.IssueSummary, color string) error {
	at, _, err := c.Screen(color)
	if err != nil {
		return err
	}
	rows := make([][]string, len(issues))
	for n, s := range issues {
		rows[n] = []string{
			s.Issue, state(s), s.Progress, cmp.Or(s.Branch, "-"), phrase.Ago(s.CreatedAt, c.Env.Now()), phrase.FirstLine(s.Note),
		}
	}
	c.Printf("%s", at.Columns(rows))
	return nil
}

// state returns the word for the state of an issue.
func state(s output.IssueSummary) string {
	switch {
	case !s.Valid:
		return "invalid"
	case s.Complete:
		return "complete"
	}
	return s.Action
}
