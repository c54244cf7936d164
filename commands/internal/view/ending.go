package view

import (
	"fmt"
	"slices"
	"time"

	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/retention"
)

// An Ending is the end of an issue's work: its chain is empty, and its last checkpoint was
// archived as completed, failed or abandoned.
type Ending struct {
	Issue checkpoint.Issue
	gitstore.Filed
	Checkpoint *gitstore.Checkpoint // newest archived checkpoint, or nil if this clone lacks the archive
	Record     *checkpoint.Record   // set with Checkpoint
}

// IsCompleted reports whether the work was completed.
func (e *Ending) IsCompleted() bool { return e.Why == retention.ReasonCompleted }

// Heading returns the issue and the title of the work.
func (e *Ending) Heading() string {
	if e.Record == nil {
		return "Issue " + string(e.Issue)
	}
	return (&Standing{Checkpoint: e.Checkpoint, Record: e.Record}).Heading()
}

// Text returns a text such as "completed 2 hours ago, archived".
func (e *Ending) Text(now time.Time) string {
	return fmt.Sprintf("%s %s, archived", e.Why, Ago(e.At, now))
}

// Rows returns the rows about the finished work.
func (e *Ending) Rows(now time.Time) []Row {
	status := Row{Label: "Status", Text: e.Text(now)}
	if e.Record == nil {
		return []Row{status}
	}
	lines := Filled(
		status,
		Row{Label: "Checkpoint", Text: fmt.Sprintf("%s (%s)", e.Checkpoint.ID, Ago(e.Record.CreatedAt(), now))},
		Row{Label: "Progress", Text: ProgressLine(e.Record)},
	)
	about := Filled(Row{Label: "Branch", Text: e.Checkpoint.Branch}, Row{Label: "Note", Text: FirstLine(e.Checkpoint.Note)})
	return slices.Concat(lines, PhaseRows(e.Record), about, Results(e.Record))
}

// Hint returns the command that shows the archived checkpoints, or brings them here.
func (e *Ending) Hint() string {
	if e.Checkpoint == nil {
		return "git checkpoint sync " + IssueArg(e.Issue) + " --archived"
	}
	return "git checkpoint list " + IssueArg(e.Issue) + " --archived"
}

// Results returns the non-empty lines about the result of the work: the summary of the
// work and of each phase, decisions, and the error of work that failed.
func Results(r *checkpoint.Record) []Row {
	lines := []Row{{Label: "Summary", Text: r.Doc().Text("context_summary")}}
	for _, phase := range r.Progress().Completed {
		lines = append(lines, Row{Label: "Summary of", Phase: phase, Text: progress.Summary(r, phase)})
	}
	for _, decision := range r.Decisions() {
		lines = append(lines, Row{Label: "Decided", Text: decision})
	}
	return Filled(append(lines, Row{Label: "Error", Text: r.Doc().Sub("workflow").Text("last_error")})...)
}

// Screen renders the end of the work for people.
func (e *Ending) Screen(at Screen, rows []Row) string {
	if e.IsCompleted() {
		rows[0].Style = Green
	}
	return at.Heading(e.Heading()) + "\n\n" + at.Sheet(rows) + "\nhint: " + e.Hint() + "\n"
}

// StatusOfEnding returns the JSON record of the status of finished work.
func StatusOfEnding(e *Ending) (s Status) {
	if e.Record != nil {
		s = (&Standing{Checkpoint: e.Checkpoint, Record: e.Record, Verdict: freshness.Recorded(e.Record)}).StatusRecord("status")
	}
	s.Type, s.Issue, s.Action, s.Complete, s.CanResume = "status", string(e.Issue), "none", e.IsCompleted(), false
	s.ResumeFrom, s.Archived, s.ArchivedAt = "", string(e.Why), e.At
	s.AutoResumeReason = "The work is " + string(e.Why)
	return s
}
