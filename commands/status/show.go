package status

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/display"
	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/standing"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
)

// screenStatus prints the status for people: the progress, the newest checkpoint, whether the
// work can be resumed, the changes since, and the next step.
func screenStatus(c *invoke.Invocation, at display.Screen, p *gitstore.Point, r *checkpoint.Record, v freshness.Verdict) {
	cp := p.Checkpoint
	rows := slices.Concat(standing.ProgressRows(r, v), checkpointRows(c, cp, r), standing.WentBackRows(p, c.Env.Now()),
		standing.ParallelRows(standing.NotHere(c, cp.Issue, cp.ID), c.Env.Now()), resumeRows(r, v), changedRows(c, cp, v), nextRows(r, v))
	c.Printf("%s\n\n%s", at.Heading(standing.Heading(cp, r)), at.Sheet(rows))
	next := "git checkpoint resume " + phrase.IssueArg(cp.Issue)
	if v.Other.IsElsewhere() {
		next += " --branch " + phrase.QuoteArg(cp.Branch)
	}
	if !v.CanResume {
		next = "git checkpoint list " + phrase.IssueArg(cp.Issue)
	}
	c.Printf("\nhint: %s\n", next)
}

// checkpointRows returns the rows about the checkpoint and its branch.
func checkpointRows(c *invoke.Invocation, cp *gitstore.Checkpoint, r *checkpoint.Record) []display.Row {
	saved := phrase.Ago(r.CreatedAt(), c.Env.Now()) + standing.ByOther(c, cp) + ": " + phrase.Title(cp, r, nil)
	if cp.Pinned {
		saved += " (pinned)"
	}
	rows := []display.Row{{Label: "Saved", Text: saved}, {Label: "Checkpoint", Text: cmp.Or(cp.ID.Short(), cp.Commit.String()[:12])}}
	if text := standing.SessionText(c, r); text != "" && c.Common.Verbose {
		rows = append(rows, display.Row{Label: "Session", Text: text})
	}
	if cp.Branch == "" {
		return rows
	}
	branch := cp.Branch
	switch now, err := c.CurrentBranch(); {
	case err != nil:
	case now == "":
		branch += " (HEAD is detached)"
	case now != cp.Branch:
		branch += " (you are on " + now + ")"
	}
	return append(rows, display.Row{Label: "Branch", Text: branch})
}

// resumeRows returns whether a resume is possible, and the findings, worst first, except
// those about changed files.
func resumeRows(r *checkpoint.Record, v freshness.Verdict) []display.Row {
	text, _ := standing.CanResume(r, v)
	styles := map[freshness.Action]display.Style{
		freshness.Resume: display.Green, freshness.ProceedWithWarning: display.Yellow,
		freshness.PromptUser: display.Yellow, freshness.StartFresh: display.Red,
	}
	rows := []display.Row{{Label: "Resume", Text: text, Style: styles[v.Action]}}
	for _, reason := range v.WorstFirst() {
		if reason.Check != filesCheck {
			rows = append(rows, standing.ReasonRow(reason))
		}
	}
	if v.Action <= freshness.ProceedWithWarning {
		rows = append(rows, display.Row{Label: "Unattended", Text: standing.AutoResume(v)})
	}
	return rows
}

// filesCheck is the check whose findings are about changed files.
const filesCheck = "files"

// changedRow returns what has changed since the checkpoint, and what a resume does about it.
func changedRow(c *invoke.Invocation, cp *gitstore.Checkpoint, v freshness.Verdict) display.Row {
	row := display.Row{Label: "Changed", Text: "no file since the checkpoint"}
	if n := len(v.Changed) + len(v.Restores) + len(v.Unsaved); n > 0 {
		row.Text = phrase.Plural(n, "file") + " since the checkpoint"
	}
	if v.CanResume && c.Store.Root() != "" && !v.Other.IsElsewhere() {
		row.Below = wouldRestore(c, cp, v)
	}
	if len(v.Unsaved) > 0 {
		row.Below = append(row.Below, "not in the checkpoint, and a resume leaves "+phrase.Files(v.Unsaved, 5))
	}
	return row
}

// changedRows returns changedRow and the findings about changed files.
func changedRows(c *invoke.Invocation, cp *gitstore.Checkpoint, v freshness.Verdict) []display.Row {
	rows := []display.Row{changedRow(c, cp, v)}
	for _, reason := range v.WorstFirst() {
		if reason.Check == filesCheck {
			rows = append(rows, standing.ReasonRow(reason))
		}
	}
	return rows
}

// nextRows returns the point at which work continues.
func nextRows(r *checkpoint.Record, v freshness.Verdict) []display.Row {
	text := "continue from " + standing.ContinueFrom(r, v.At)
	switch {
	case v.Next.Action != "":
		text = fmt.Sprintf("%s %s (%s)", v.Next.Action, v.Next.Phase, v.Next.Why)
	case v.At.Complete:
		text = standing.NothingLeft
	case v.Action == freshness.StartFresh:
		text = "start over"
	}
	return []display.Row{{Label: "Next", Text: text}}
}

// nothingToPutBack is the line of wouldRestore for a resume without an effect on files.
const nothingToPutBack = "a resume has no file to put back"

// wouldRestore returns one line per effect of a resume on files. The findings of the verdict name
// those that changed on both sides.
func wouldRestore(c *invoke.Invocation, cp *gitstore.Checkpoint, v freshness.Verdict) []string {
	if err := c.Store.Files.CheckResume(c.Ctx, cp); err != nil {
		return []string{"a resume puts no files back: " + err.Error()}
	}
	var lines []string
	for _, part := range []struct {
		what  string
		paths []string
	}{{"a resume puts back", v.Restores}, {"a resume cannot put back", v.InTheWay}} {
		if len(part.paths) > 0 {
			lines = append(lines, part.what+" "+phrase.Files(part.paths, 5))
		}
	}
	if len(lines) == 0 && len(v.Changed) == 0 {
		return []string{nothingToPutBack}
	}
	return lines
}

// markdownStatus prints a status in the form of an issue comment.
func markdownStatus(c *invoke.Invocation, p *gitstore.Point, r *checkpoint.Record, v freshness.Verdict) {
	cp := p.Checkpoint
	c.Printf("**Issue %s**\n\n", code(strings.TrimPrefix(standing.Heading(cp, r), "Issue ")))
	c.Printf("- Checkpoint: %s, %s\n", code(string(cp.ID)), phrase.Ago(r.CreatedAt(), c.Env.Now()))
	if p.WentBack() {
		c.Printf("- Went back: %s\n", code(standing.WentBackText(p, c.Env.Now())))
	}
	for _, n := range standing.NotHere(c, cp.Issue, cp.ID) {
		c.Printf("- Parallel: %s\n", code(standing.ParallelText(n, c.Env.Now())))
	}
	c.Printf("- Progress: %s\n", code(standing.ProgressLine(r)))
	for _, line := range standing.PhaseLines(r) {
		c.Printf("- %s: %s\n", line.Name, code(line.Text))
	}
	if cp.Branch != "" {
		c.Printf("- Branch: %s\n", code(cp.Branch))
	}
	text, at := standing.CanResume(r, v)
	c.Printf("- Resume: %s", text)
	if at != "" {
		c.Printf(", at %s", code(at))
	}
	c.Printf("\n")
	for _, reason := range v.WorstFirst() {
		c.Printf("- %s: %s\n", reason.Severity, code(reason.Message))
	}
}

// code returns text as a Markdown code span, in which links, images and mentions have no
// effect.
func code(s string) string {
	return "`" + strings.ReplaceAll(output.Clean(s), "`", "'") + "`"
}

// showCoverage prints the changed files that the checkpoint lacks, because a user may
// expect a copy of all changed files.
func showCoverage(c *invoke.Invocation, r *checkpoint.Record) error {
	if c.Store.Root() == "" {
		return nil
	}
	changed, notSaved, err := c.Store.Files.Uncommitted(c.Ctx, r)
	if err != nil {
		return err
	}
	c.Printf("Coverage: %d of %d changed files are in the checkpoint\n", len(changed)-len(notSaved), len(changed))
	for _, path := range notSaved {
		c.Printf("  not in it: %s\n", phrase.QuotePath(path))
	}
	return nil
}

// showDiffs prints issue body and file differences since the checkpoint.
func showDiffs(c *invoke.Invocation, cp *gitstore.Checkpoint, v freshness.Verdict) error {
	for _, r := range v.Reasons {
		for _, line := range r.Diff {
			c.Printf("%s\n", output.Clean(line))
		}
	}
	for _, path := range v.Changed {
		diff, err := c.Store.Files.Diff(c.Ctx, cp, path)
		if err != nil {
			return err
		}
		c.Printf("%s\n%s", phrase.QuotePath(path), output.CleanBlock(diff))
	}
	return nil
}

// statusShort prints one line for the prompt of a shell or an editor. It reads no issue
// source and computes no verdict. Without a checkpoint it prints nothing.
func statusShort(c *invoke.Invocation, o *statusOptions) error {
	for _, other := range []struct {
		flag  string
		given bool
	}{
		{"check", o.check},
		{"done", o.done != ""},
		{"description", o.description != ""},
		{"for-plan", o.forPlan != ""},
		{"markdown", o.markdown},
		{"json", c.JSON},
	} {
		if other.given {
			return exit.Usagef("status: --short cannot be combined with --%s", other.flag)
		}
	}
	issue, err := c.Issue()
	if err != nil && len(c.Args) == 0 {
		return exit.Silent{Code: exit.None} // the branch belongs to no issue
	}
	if err != nil {
		return err
	}
	cp, r, err := c.Store.PointRecord(c.Ctx, issue)
	if errors.As(err, new(*gitstore.NoneError)) {
		return exit.Silent{Code: exit.None}
	}
	if err != nil {
		return err
	}
	c.Printf("%s\n", output.Clean(shortStatus(r, string(issue), phrase.Briefly(cp.Created, c.Env.Now()))))
	return nil
}

// shortStatus returns a text such as "42 implementing 2/5 12m", with "!" at the end if
// the checkpoint cannot be resumed.
func shortStatus(r *checkpoint.Record, issue, age string) string {
	p := r.Progress()
	words := []string{issue}
	if phase := cmp.Or(p.Current, r.Phase()); phase != "" && !progress.Complete(r) {
		words = append(words, phase)
	}
	if p.Total > 0 {
		words = append(words, fmt.Sprintf("%d/%d", len(p.Completed)+len(p.Skipped), p.Total))
	}
	words = append(words, age)
	if !r.CanResume() {
		words = append(words, "!")
	}
	return strings.Join(words, " ")
}
