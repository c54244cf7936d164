package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// A Standing is where the work of an issue stands: the checkpoint from which it goes on,
// its record and verdict, and what the repository adds to them. Commands gather it once and
// render it as rows, plain text, Markdown or JSON.
type Standing struct {
	Checkpoint *gitstore.Checkpoint
	Point      *gitstore.Point    // of the checkpoint, nil if the command line or the branch selects it
	Record     *checkpoint.Record // a lead's record has the joined states of its stories
	Stored     *checkpoint.Record // record as it is stored
	Verdict    freshness.Verdict
	Now        time.Time

	By        string             // author, if another person saved the checkpoint, else ""
	Session   Session            // session of the checkpoint or the newest of its issue
	Given     Given              // the last session that got the work in this clone
	Parallel  []gitstore.NotHere // checkpoints that were saved in parallel
	NotPushed string             // why the last push in the background failed, else ""
	TriedAt   time.Time          // time of that push
	Here      string             // current branch, "" if HEAD is detached
	HereKnown bool
	Worktree  bool   // a worktree is here
	NoRestore string // why a resume would put no files back, else ""
}

// A Session is the last session of an agent that saved the work. The zero value is none. If this
// clone does not know the session, it has no Transcript, Command and Text.
type Session struct {
	ID, Agent, Transcript, Command, Text string

	At  time.Time // time of its last checkpoint
	Age string    // such as " (2 hours ago)", or "" if it saved the checkpoint of the standing
}

// Heading returns the issue and the title of the work.
func (s *Standing) Heading() string {
	text := "Issue " + string(s.Checkpoint.Issue)
	if title := s.Record.Subject(); title != "" {
		text += ": " + title
	}
	return text
}

// WorkName returns a name for the work: its description, the issue's title, or the issue.
func (s *Standing) WorkName() string {
	v, _ := s.Record.Doc().Lookup("workflow.description")
	return cmp.Or(text(v), s.Record.IssueSnapshot().Title, "issue "+string(s.Checkpoint.Issue))
}

// SavedText returns the age of the checkpoint and its author, such as "2 hours ago, by Ann".
func (s *Standing) SavedText() string { return Ago(s.Record.CreatedAt(), s.Now) + ByText(s.By) }

// ByText returns a text such as ", by Ann", or "" without a name.
func ByText(author string) string {
	if author == "" {
		return ""
	}
	return ", by " + author
}

// ContinueFrom returns the point at which work continues, for people.
func (s *Standing) ContinueFrom() string { return ContinueFrom(s.Record, s.Verdict.At) }

// actionText describes the action of a verdict for text output. who answers the questions.
func actionText(v freshness.Verdict, who string) string {
	if v.Files.Damaged != "" {
		return "no, its files are missing or damaged"
	}
	if v.Action == freshness.StartFresh && v.Merged != "" {
		return "no, all of it is in " + v.Merged
	}
	return map[freshness.Action]string{
		freshness.Resume:             "yes",
		freshness.ProceedWithWarning: "yes, with warnings",
		freshness.PromptUser:         "after an answer from " + who,
		freshness.StartFresh:         "no, the work starts over",
	}[v.Action]
}

// ResumeText describes whether the work can be resumed. at is the point to continue at, or "".
func (s *Standing) ResumeText() (text, at string) {
	if s.Verdict.At.Complete {
		return NothingLeft, ""
	}
	text = actionText(s.Verdict, "you")
	if s.Verdict.CanResume && s.Verdict.At.Code != "" {
		at = s.ContinueFrom()
	}
	return text, at
}

// AutoResume describes whether `resume --auto` would resume, and the reason why not.
func AutoResume(v freshness.Verdict) string {
	if !v.AutoResume {
		return "no: " + v.AutoReason
	}
	return "yes"
}

// DoingText returns the agent of the last turn and the phase, such as "claude, in build", or "".
func (s *Standing) DoingText() string {
	parts := []string{cmp.Or(s.Record.AgentTurn().Agent, s.Session.Agent)}
	if phase := s.Verdict.At.Phase; phase != "" && !s.Verdict.At.Complete {
		parts = append(parts, "in "+phase)
	}
	return strings.Trim(strings.Join(parts, ", "), ", ")
}

// NotSavedText returns the number of files that changed since the checkpoint.
func NotSavedText(files int) string {
	if files == 0 {
		return "all files saved"
	}
	return Plural(files, "file") + " not saved yet"
}

// NotSaved returns the number of files that changed since the checkpoint and that it does not have.
func (s *Standing) NotSaved() int { return len(s.Verdict.Files.Changed) + len(s.Verdict.Files.Unsaved) }

// BranchMessage returns the finding that HEAD is on another branch than the checkpoint's, or "".
func (s *Standing) BranchMessage() string {
	for _, r := range s.Verdict.Reasons {
		if r.Check == "branch" {
			return r.Message
		}
	}
	return ""
}

// Home returns the branch of the checkpoint by its current name.
func (s *Standing) Home() string { return cmp.Or(s.Verdict.Other.Became, s.Checkpoint.Branch) }

// Placed names the worktree that has the branch of the checkpoint checked out.
func (s *Standing) Placed() string {
	return fmt.Sprintf("Branch %s is checked out in %s", s.Home(), QuotePath(s.Verdict.Other.Place))
}

// NextText returns the next action of another system's workflow with its phase and reason,
// or "".
func (s *Standing) NextText() string {
	n := s.Verdict.Next
	if n.Action == "" {
		return ""
	}
	return fmt.Sprintf("%s %s (%s)", n.Action, n.Phase, n.Why)
}

// StatusRecord returns the JSON record of status and resume.
func (s *Standing) StatusRecord(kind string) Status {
	r, v, p := s.Record, s.Verdict, s.Record.Progress()
	pending, _ := tasks.Of(r).Batches() // a verdict rejects cycles
	out := Status{
		Type: kind, CheckpointID: string(s.Checkpoint.ID), Issue: string(s.Checkpoint.Issue), Action: v.Action.String(),
		CanResume: v.CanResume, Complete: v.At.Complete, Warnings: v.Warnings(), ResumeFrom: v.At.Code,
		CurrentPhase: v.At.Phase, CompletedPhases: p.Completed, Remaining: p.Remaining,
		Batches:         Batches{Completed: r.CompletedBatches(), Current: r.CurrentBatch(), Pending: pending},
		PendingCaptures: PendingCaptures(r), Changed: QuotePaths(v.Files.Changed), Unsaved: QuotePaths(v.Files.Unsaved),
		AutoResume: v.AutoResume, AutoResumeReason: v.AutoReason, AwaitingApproval: v.Awaiting,
		SavedBy: s.Checkpoint.Author, SkippedPhases: p.Skipped, Replans: progress.ReplanCounts(r), Artifacts: progress.Artifacts(r), PreservedMinutes: progress.Minutes(r), Next: v.Next.Action,
		WentBack: WentBackRecord(s.Point), Parallel: ParallelRecords(s.Parallel), Fork: ForkRecord(r.Fork()), Spent: r.AgentTurn().Spent,
		SessionID: cmp.Or(s.Session.ID, r.Session()), SessionAgent: s.Session.Agent, SessionTranscript: s.Session.Transcript, SessionCommand: s.Session.Command, SessionAt: s.Session.At,
		GivenTo: s.Given.To, GivenSession: s.Given.Session, GivenAt: s.Given.At, GivenCut: s.Given.Cut, NotPushed: s.NotPushed,
	}
	out.ArtifactPaths, out.ContextMetadata = WorkflowJSON(r, "artifact_paths"), WorkflowJSON(r, "context_metadata")
	conflicts := map[string]string{}
	for _, joined := range v.Stories {
		conflicts[joined.Story] = joined.Conflict()
	}
	for _, of := range story.Stories(r) {
		out.Stories = append(out.Stories, Story{
			ID: of.ID, State: of.State, CrashCount: story.CrashCount.Count(r, of.ID), Conflict: conflicts[of.ID],
		})
	}
	if sum := checkpoint.SumOf(out.Spent); sum != (checkpoint.Tokens{}) {
		out.Tokens = &sum
	}
	for _, reason := range v.Reasons {
		out.Reasons = append(out.Reasons, ReasonRecord{Check: reason.Check, Severity: reason.Action.Severity(), Message: reason.Message})
	}
	return out
}

// WorkflowJSON returns a mapping of the record's workflow section as JSON on one line, nil
// if it is missing.
func WorkflowJSON(r *checkpoint.Record, key string) json.RawMessage {
	m, ok := r.Doc().Sub("workflow").Child(key)
	if !ok {
		return nil
	}
	data, _ := m.MarshalJSON() // nil with an error
	return data
}

// ProgressRows returns the rows about the progress for a screen.
func (s *Standing) ProgressRows() []Row {
	r, v := s.Record, s.Verdict
	var rows []Row
	if stories := story.Stories(r); story.IsLead(r) {
		parts := []string{StoryCount(stories), OpenStories(stories)}
		rows = append(rows, Row{Label: "Stories", Text: strings.TrimSuffix(strings.Join(parts, "; "), "; ")})
	} else {
		rows = append(rows, Row{Label: "Phase", Text: phaseText(v.At, r.Progress())})
	}
	if done, now := r.CompletedBatches(), r.CurrentBatch(); len(done)+now > 0 {
		var parts []string
		if now > 0 {
			parts = append(parts, strconv.Itoa(now))
		}
		if len(done) > 0 {
			parts = append(parts, "completed "+Ranges(done))
		}
		rows = append(rows, Row{Label: "Batch", Text: strings.Join(parts, "; ")})
	}
	rows = append(rows, Filled(Row{Label: "Tasks", Text: tasksText(tasks.Of(r).All())})...)
	for _, row := range PhaseRows(r) {
		if row.Label != "Completed" && row.Label != "Remaining" { // shown above
			rows = append(rows, row)
		}
	}
	if len(v.Awaiting) > 0 {
		rows = append(rows, Row{Label: "Waits for", Text: "approval of " + List(v.Awaiting), Style: Yellow})
	}
	return slices.Concat(rows, TeamRows(r), tokensRow(r))
}

// PlainProgress returns the rows about the progress for scripts.
func (s *Standing) PlainProgress() []Row {
	rows := append([]Row{{Label: "Progress", Text: ProgressLine(s.Record)}}, PhaseRows(s.Record)...)
	rows = append(rows, Filled(
		Row{Label: "Stories", Text: OpenStories(story.Stories(s.Record))},
		Row{Label: "Tasks", Text: TasksLine(s.Record)},
	)...)
	return append(rows, tokensRow(s.Record)...)
}

// A Given is the text about the work that a session got from its hook. The zero value is none.
type Given struct {
	To, Session string
	At          time.Time
	Bytes       int
	Cut         bool
	Saved       bool // the work was saved since
}

// Text returns a text such as "to codex 5 minutes ago (1,234 bytes), saved nothing since".
func (g Given) Text(now time.Time) string {
	if g.To == "" {
		return ""
	}
	text := fmt.Sprintf("to %s %s (%d bytes)", g.To, Ago(g.At, now), g.Bytes)
	if g.Cut {
		text += ", shortened"
	}
	if !g.Saved {
		text += ", saved nothing since"
	}
	return text
}

// BesideRows returns the source of a fork, the session that got the work and has saved nothing
// since, a failed push in the background, a person's restore of an older checkpoint, and the
// checkpoints that were saved in parallel.
func (s *Standing) BesideRows() []Row {
	rows := ForkRows(s.Record.Fork())
	if text := s.Given.Text(s.Now); text != "" && (!s.Given.Saved || s.Given.Cut) {
		rows = append(rows, Row{Label: "Given", Text: text})
	}
	if s.NotPushed != "" {
		rows = append(rows, Row{Label: "Push", Text: s.NotPushed + " (" + Ago(s.TriedAt, s.Now) + ")", Style: Yellow})
	}
	rows = append(rows, Filled(Row{Label: "Went back", Text: WentBackText(s.Point, s.Now), Style: Yellow})...)
	return append(rows, ParallelRows(s.Parallel, s.Now)...)
}

// ReasonRows returns the findings that keep accepts, worst first.
func (s *Standing) ReasonRows(keep func(freshness.Reason) bool) []Row {
	var rows []Row
	for _, r := range s.Verdict.WorstFirst() {
		if keep == nil || keep(r) {
			rows = append(rows, Row{Label: "  " + r.Action.Severity(), Text: r.Message, Style: severityStyle(r.Action), Below: r.Detail, Hint: r.Hint})
		}
	}
	return rows
}

func severityStyle(a freshness.Action) Style {
	switch a {
	case freshness.Resume:
		return ""
	case freshness.StartFresh:
		return Red
	}
	return Yellow
}

// PendingCaptures returns the record's pending captures, except those that were captured
// since.
func PendingCaptures(r *checkpoint.Record) []string {
	var pending []string
	for _, v := range r.PendingCaptures() {
		if text := fmt.Sprint(v); !slices.Contains(r.CapturedEntries(), text) {
			pending = append(pending, text)
		}
	}
	return pending
}
