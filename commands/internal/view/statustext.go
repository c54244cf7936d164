package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/freshness"
)

// StatusScreen renders the status for people: the progress, the checkpoint, whether the work
// can be resumed, the changes since, and the next step.
func (s *Standing) StatusScreen(at Screen, verbose bool) string {
	files := func(r freshness.Reason) bool { return r.Check == filesCheck }
	others := func(r freshness.Reason) bool { return !files(r) }
	text, _ := s.ResumeText()
	resume := Row{Label: "Resume", Text: text, Style: cmp.Or(severityStyle(s.Verdict.Action), Green)}
	rows := slices.Concat(s.ProgressRows(), s.checkpointRows(verbose), s.BesideRows(), []Row{resume}, s.ReasonRows(others))
	if s.Verdict.Action <= freshness.ProceedWithWarning {
		rows = append(rows, Row{Label: "Unattended", Text: AutoResume(s.Verdict)})
	}
	rows = append(append(rows, s.changedRow()), s.ReasonRows(files)...)
	rows = append(rows, s.nextRow())
	return at.Heading(s.Heading()) + "\n\n" + at.Sheet(rows) + "\nhint: " + s.nextCommand() + "\n"
}

// StatusPlain renders the status for scripts.
func (s *Standing) StatusPlain(verbose bool) string {
	rows := []Row{{Label: "Checkpoint", Text: fmt.Sprintf("%s (%s)", s.Checkpoint.ID, s.SavedText())}}
	rows = slices.Concat(rows, s.BesideRows(), s.PlainProgress(), TeamRows(s.Record), s.branchRow())
	if verbose {
		rows = append(rows, Filled(Row{Label: "Session", Text: s.Session.Text})...)
	}
	text, at := s.ResumeText()
	if at != "" {
		text += ", at " + at
	}
	rows = append(rows, Filled(
		Row{Label: "Resume", Text: text},
		Row{Label: "Next", Text: s.NextText()},
		Row{Label: "Resumes unattended", Text: AutoResume(s.Verdict)},
	)...)
	if s.Worktree {
		changed := s.changedRow()
		changed.Below = slices.DeleteFunc(changed.Below, func(line string) bool { return line == nothingToPutBack })
		rows = append(rows, changed)
	}
	return Clean(s.Heading()) + "\n" + Plain(append(rows, s.ReasonRows(nil)...))
}

// StatusMarkdown renders the status as a comment on the issue.
func (s *Standing) StatusMarkdown() string {
	rows := append(s.BesideRows(), Row{Label: "Progress", Text: ProgressLine(s.Record)})
	rows = slices.Concat(rows, PhaseRows(s.Record), TeamRows(s.Record), s.branchRow())
	text, at := s.ResumeText()
	if at != "" {
		text += ", at " + Code(at)
	}
	return "**Issue " + Code(strings.TrimPrefix(s.Heading(), "Issue ")) + "**\n\n" +
		fmt.Sprintf("- Checkpoint: %s, %s\n", Code(string(s.Checkpoint.ID)), Ago(s.Record.CreatedAt(), s.Now)) +
		Markdown(rows) + "- Resume: " + text + "\n" + Markdown(s.ReasonRows(nil))
}

// checkpointRows returns the rows about the checkpoint and its branch.
func (s *Standing) checkpointRows(verbose bool) []Row {
	saved := s.SavedText() + ": " + Title(s.Checkpoint, s.Record, nil)
	if s.Checkpoint.Pinned {
		saved += " (pinned)"
	}
	rows := []Row{{Label: "Saved", Text: saved}, {Label: "Checkpoint", Text: cmp.Or(s.Checkpoint.ID.Short(), s.Checkpoint.Commit.String()[:12])}}
	if verbose {
		rows = append(rows, Filled(Row{Label: "Session", Text: s.Session.Text})...)
	}
	for _, row := range s.branchRow() {
		switch {
		case !s.HereKnown:
		case s.Here == "":
			row.Text += " (HEAD is detached)"
		case s.Here != s.Checkpoint.Branch:
			row.Text += " (you are on " + s.Here + ")"
		}
		rows = append(rows, row)
	}
	return rows
}

// branchRow returns the branch of the checkpoint, or nothing.
func (s *Standing) branchRow() []Row {
	return Filled(Row{Label: "Branch", Text: s.Checkpoint.Branch})
}

// filesCheck is the check whose findings are about changed files.
const filesCheck = "files"

// changedRow returns what has changed since the checkpoint, and what a resume does about it.
func (s *Standing) changedRow() Row {
	v := s.Verdict
	row := Row{Label: "Changed", Text: "no file since the checkpoint"}
	if n := len(v.Files.Changed) + len(v.Files.Restores) + len(v.Files.Unsaved); n > 0 {
		row.Text = Plural(n, "file") + " since the checkpoint"
	}
	if v.CanResume && s.Worktree && !v.Other.IsElsewhere() {
		row.Below = s.wouldRestore()
	}
	if len(v.Files.Unsaved) > 0 {
		row.Below = append(row.Below, "not in the checkpoint, and a resume leaves "+Files(v.Files.Unsaved, 5))
	}
	return row
}

// nothingToPutBack is the line of wouldRestore for a resume without an effect on files.
const nothingToPutBack = "a resume has no file to put back"

// wouldRestore returns one line per effect of a resume on files. The findings of the verdict name
// those that changed on both sides.
func (s *Standing) wouldRestore() []string {
	if s.NoRestore != "" {
		return []string{"a resume puts no files back: " + s.NoRestore}
	}
	var lines []string
	for _, part := range []struct {
		what  string
		paths []string
	}{{"a resume puts back", s.Verdict.Files.Restores}, {"a resume cannot put back", s.Verdict.Files.InTheWay}} {
		if len(part.paths) > 0 {
			lines = append(lines, part.what+" "+Files(part.paths, 5))
		}
	}
	if len(lines) == 0 && len(s.Verdict.Files.Changed) == 0 {
		return []string{nothingToPutBack}
	}
	return lines
}

// nextRow returns the point at which work continues.
func (s *Standing) nextRow() Row {
	text := "continue from " + s.ContinueFrom()
	switch next := s.NextText(); {
	case next != "":
		text = next
	case s.Verdict.At.Complete:
		text = NothingLeft
	case s.Verdict.Action == freshness.StartFresh:
		text = "start over"
	}
	return Row{Label: "Next", Text: text}
}

func (s *Standing) nextCommand() string {
	issue := IssueArg(s.Checkpoint.Issue)
	switch {
	case !s.Verdict.CanResume:
		return "git checkpoint list " + issue
	case s.Verdict.Other.IsElsewhere():
		return "git checkpoint resume " + issue + " --branch " + QuoteArg(s.Checkpoint.Branch)
	}
	return "git checkpoint resume " + issue
}
