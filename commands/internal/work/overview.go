package work

import (
	"cmp"
	"context"
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

func state(s view.IssueSummary) string {
	switch {
	case !s.Valid:
		return "invalid"
	case s.Complete:
		return "complete"
	}
	return s.Action
}

// ShowText prints a text that may contain control characters, in the pager if it is long. On a
// terminal it escapes them.
func ShowText(c *invoke.Invocation, data []byte) error {
	if c.AtTerminal() {
		data = []byte(view.CleanBlock(string(data)))
	}
	defer c.Page()()
	_, err := c.Out.Write(data)
	if invoke.LeftPager(err) {
		return nil
	}
	return err
}

// Attempt compares the newest state of an issue with the source of a fork, f. Without a source, or
// if it is lost, changes and time are unknown, and turns and tokens are those of the issue.
func Attempt(ctx context.Context, s *gitstore.Store, cp *gitstore.Checkpoint, r *checkpoint.Record, f checkpoint.Fork) *view.Attempt {
	turn := r.AgentTurn()
	a := &view.Attempt{Issue: cp.Issue, ID: cp.ID, Since: -1, Turns: turn.Number, Tokens: checkpoint.SumOf(turn.Spent)}
	if f.Issue == "" {
		return a
	}
	if source, err := s.ForkSource(ctx, cp.Issue, f); err == nil {
		a.Change = s.Files.TotalsOf(ctx, []gitstore.Pair{{From: source, To: cp}})[0]
		if before, err := s.Record(source); err == nil {
			a.Turns = max(a.Turns-before.AgentTurn().Number, 0)
			a.Tokens = a.Tokens.Minus(checkpoint.SumOf(before.AgentTurn().Spent))
		}
	}
	first, err := s.Find(ctx, cp.Issue, gitstore.First)
	if cp.Issue == f.Issue {
		first, err = s.ByID(ctx, cp.Issue, f.ID)
	}
	if err == nil { // the time of the first checkpoint of the fork, or of the source itself
		a.Since = max(cp.Created.Sub(first.Created), 0)
	}
	return a
}
