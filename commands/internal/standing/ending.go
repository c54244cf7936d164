package standing

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
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

// EndingOf returns the end of an issue's work, or nil if the work has not ended. Work that
// was archived by hand, by age or to start over has not ended.
func EndingOf(c *invoke.Invocation, issue checkpoint.Issue) *Ending {
	filed, err := c.Store.Ended(c.Ctx, issue)
	if err != nil {
		return nil // the command reports the damaged chain
	}
	e := &Ending{Issue: issue, Filed: filed}
	e.read(c)
	switch {
	case filed.Why == retention.ReasonCompleted, filed.Why == retention.ReasonFailed:
		return e
	case filed.Why == retention.ReasonAbandoned && e.Record != nil && progress.Over(e.Record):
		return e
	}
	return nil
}

// read reads the newest archived checkpoint. It ignores checkpoints that were archived before
// the last archival.
func (e *Ending) read(c *invoke.Invocation) {
	l, err := c.Store.Archived(c.Ctx, e.Issue, 1)
	if err != nil || len(l.Checkpoints) == 0 || l.Checkpoints[0].Filed != e.Filed {
		return
	}
	if r, err := c.Store.Record(&l.Checkpoints[0]); err == nil {
		e.Checkpoint, e.Record = &l.Checkpoints[0], r
	}
}

// IsCompleted reports whether the work was completed.
func (e *Ending) IsCompleted() bool { return e.Why == retention.ReasonCompleted }

// IsOver reports whether a phase is done. Without the record, all phases of completed work
// count as done.
func (e *Ending) IsOver(phase string) bool {
	return e.IsCompleted() && (e.Record == nil || progress.IsOver(e.Record, phase))
}

// Heading returns the issue and the title of the work.
func (e *Ending) Heading() string {
	if e.Record == nil {
		return "Issue " + string(e.Issue)
	}
	return Heading(e.Checkpoint, e.Record)
}

// Text returns a text such as "completed 2 hours ago, archived".
func (e *Ending) Text(now time.Time) string {
	return fmt.Sprintf("%s %s, archived", e.Why, phrase.Ago(e.At, now))
}

// A Line is a labelled line of a status. Phase is the phase in the label, or "".
type Line struct{ Name, Phase, Text string }

// Label returns the label with the phase.
func (l Line) Label() string { return strings.TrimSpace(l.Name + " " + l.Phase) }

// Lines returns the lines about the finished work.
func (e *Ending) Lines(now time.Time) []Line {
	lines := []Line{{Name: "Status", Text: e.Text(now)}}
	if e.Record == nil {
		return lines
	}
	add := func(name, text string) {
		if text != "" {
			lines = append(lines, Line{Name: name, Text: text})
		}
	}
	add("Checkpoint", fmt.Sprintf("%s (%s)", e.Checkpoint.ID, phrase.Ago(e.Record.CreatedAt(), now)))
	add("Progress", ProgressLine(e.Record))
	lines = append(lines, PhaseLines(e.Record)...)
	add("Branch", e.Checkpoint.Branch)
	add("Note", phrase.FirstLine(e.Checkpoint.Note))
	return append(lines, Results(e.Record)...)
}

// Hint returns the command that shows the archived checkpoints, or brings them here.
func (e *Ending) Hint() string {
	if e.Checkpoint == nil {
		return "git checkpoint sync " + phrase.IssueArg(e.Issue) + " --archived"
	}
	return "git checkpoint list " + phrase.IssueArg(e.Issue) + " --archived"
}

// Results returns the non-empty lines about the result of the work: the summary of the
// work and of each phase, decisions, and the error of work that failed.
func Results(r *checkpoint.Record) []Line {
	lines := []Line{{Name: "Summary", Text: r.Doc().Text("context_summary")}}
	for _, phase := range r.Progress().Completed {
		lines = append(lines, Line{Name: "Summary of", Phase: phase, Text: progress.Summary(r, phase)})
	}
	for _, decision := range r.Decisions() {
		lines = append(lines, Line{Name: "Decided", Text: decision})
	}
	lines = append(lines, Line{Name: "Error", Text: r.Doc().Sub("workflow").Text("last_error")})
	return slices.DeleteFunc(lines, func(l Line) bool { return l.Text == "" })
}

// StatusOfEnding returns the JSON record of the status of finished work.
func StatusOfEnding(e *Ending) (s output.Status) {
	if e.Record != nil {
		s = Status("status", e.Checkpoint, e.Record, freshness.Recorded(e.Record))
	}
	s.Type, s.Issue, s.Action, s.Complete, s.CanResume = "status", string(e.Issue), "none", e.IsCompleted(), false
	s.ResumeFrom, s.Archived, s.ArchivedAt = "", string(e.Why), e.At
	s.AutoResumeReason = "The work is " + string(e.Why)
	return s
}
