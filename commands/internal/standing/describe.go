package standing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/commands/internal/display"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// Heading returns the issue and the title of the work.
func Heading(cp *gitstore.Checkpoint, r *checkpoint.Record) string {
	text := "Issue " + string(cp.Issue)
	if title := r.Subject(); title != "" {
		text += ": " + title
	}
	return text
}

// ShowReasons prints the findings, worst first.
func ShowReasons(c *invoke.Invocation, v freshness.Verdict) {
	for _, r := range v.WorstFirst() {
		c.Printf("  %s: %s\n", r.Severity, output.Clean(r.Message))
		for _, d := range r.Detail {
			c.Printf("    %s\n", output.Clean(d))
		}
		if r.Hint != "" {
			c.Printf("    hint: %s\n", output.Clean(r.Hint))
		}
	}
}

// Status returns the JSON record of status and resume.
func Status(kind string, cp *gitstore.Checkpoint, r *checkpoint.Record, v freshness.Verdict) output.Status {
	at := Of(r, v)
	s := output.Status{
		Type: kind, CheckpointID: string(cp.ID), Issue: string(cp.Issue), Action: v.Action.String(),
		CanResume: v.CanResume, Complete: at.Complete, Warnings: v.Warnings(), ResumeFrom: at.Code,
		CurrentPhase: at.Phase, CompletedPhases: at.Completed, Remaining: at.Remaining, Batches: output.Batches{Completed: at.batches, Current: r.CurrentBatch(), Pending: at.pending},
		PendingCaptures: pendingCaptures(r), Changed: phrase.QuotePaths(v.Changed), Unsaved: phrase.QuotePaths(v.Unsaved),
		AutoResume: v.AutoResume, AutoResumeReason: v.AutoReason, AwaitingApproval: v.Awaiting,
		SavedBy: cp.Author, SkippedPhases: r.Progress().Skipped, Replans: progress.ReplanCounts(r), Artifacts: artifacts(r), PreservedMinutes: progress.Minutes(r), Next: v.Next.Action,
	}
	s.ArtifactPaths, s.ContextMetadata = WorkflowJSON(r, "artifact_paths"), WorkflowJSON(r, "context_metadata")
	conflicts := map[string]string{}
	for _, joined := range v.Stories {
		conflicts[joined.Story] = joined.Conflict()
	}
	for _, of := range story.Stories(r) {
		s.Stories = append(s.Stories, output.Story{
			ID: of.ID, State: of.State, CrashCount: story.CrashCount.Count(r, of.ID), Conflict: conflicts[of.ID],
		})
	}
	for _, reason := range v.Reasons {
		s.Reasons = append(s.Reasons, output.ReasonRecord{Check: reason.Check, Severity: reason.Severity, Message: reason.Message})
	}
	return s
}

// WorkflowJSON returns a mapping of the record's workflow section as JSON on one line, nil
// if it is missing.
func WorkflowJSON(r *checkpoint.Record, key string) json.RawMessage {
	m, ok := r.Doc().Sub("workflow").Child(key)
	if !ok {
		return nil
	}
	data, err := m.MarshalJSON()
	if err != nil {
		return nil
	}
	return data
}

// CanResume describes whether the work can be resumed. at is the point to continue at, or "".
func CanResume(r *checkpoint.Record, v freshness.Verdict) (text, at string) {
	if v.At.Complete {
		return NothingLeft, ""
	}
	text = map[freshness.Action]string{
		freshness.Resume:             "yes",
		freshness.ProceedWithWarning: "yes, with warnings",
		freshness.PromptUser:         "after an answer from you",
		freshness.StartFresh:         "no, the work starts over",
	}[v.Action]
	if v.CanResume && v.At.Code != "" {
		at = ContinueFrom(r, v.At)
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

// ProgressRows returns the rows about the progress.
func ProgressRows(r *checkpoint.Record, v freshness.Verdict) []display.Row {
	at := Of(r, v)
	var rows []display.Row
	if stories := story.Stories(r); story.IsLead(r) {
		parts := []string{storyCount(stories), openStories(stories)}
		rows = append(rows, display.Row{Label: "Stories", Text: strings.TrimSuffix(strings.Join(parts, "; "), "; ")})
	} else {
		rows = append(rows, display.Row{Label: "Phase", Text: phaseText(at, r.Progress())})
	}
	if done, now := at.batches, r.CurrentBatch(); len(done)+now > 0 {
		var parts []string
		if now > 0 {
			parts = append(parts, strconv.Itoa(now))
		}
		if len(done) > 0 {
			parts = append(parts, "completed "+phrase.Ranges(done))
		}
		rows = append(rows, display.Row{Label: "Batch", Text: strings.Join(parts, "; ")})
	}
	if text := tasksText(tasks.Of(r).All()); text != "" {
		rows = append(rows, display.Row{Label: "Tasks", Text: text})
	}
	for _, line := range PhaseLines(r) {
		if line.Name != "Completed" && line.Name != "Remaining" { // shown above
			rows = append(rows, display.Row{Label: line.Name, Text: line.Text})
		}
	}
	if len(v.Awaiting) > 0 {
		rows = append(rows, display.Row{Label: "Waits for", Text: "approval of " + phrase.List(v.Awaiting), Style: display.Yellow})
	}
	return rows
}

// ResumePoint returns the record's resume point, or the checkpoint's id if it has none.
func ResumePoint(j Judged) string {
	return cmp.Or(j.Verdict.At.Code, string(j.Checkpoint.ID))
}

// WorkName returns a name for the work: its description, the issue's title, or the issue.
func WorkName(cp *gitstore.Checkpoint, r *checkpoint.Record) string {
	if v, ok := r.Doc().Lookup("workflow.description"); ok {
		if s, ok := v.(string); ok && s != "" {
			return s
		}
	}
	return cmp.Or(r.IssueSnapshot().Title, "issue "+string(cp.Issue))
}

// Listed returns the JSON record of a checkpoint in a list.
func Listed(cp *gitstore.Checkpoint) output.Listed {
	return output.Listed{
		CheckpointID: string(cp.ID), Issue: string(cp.Issue), Commit: cp.Commit.String(), CreatedAt: cp.Created, ImportedAt: cp.Imported(),
		Trigger: string(cp.Trigger), Phase: cp.Phase, Branch: cp.Branch, CanResume: cp.Resumable && ProblemOf(cp) == "",
		Pinned: cp.Pinned, Valid: ProblemOf(cp) == "", LeftOut: cp.LeftOut, Note: cp.Note, SavedBy: cp.Author,
	}
}

// ProblemOf returns the reason why a checkpoint is unusable, or "": a problem of its commit,
// or of its record if the caller has read the record.
func ProblemOf(cp *gitstore.Checkpoint) string {
	if cp.Later() {
		return "version " + cp.Version + ", needs an upgrade"
	}
	return cp.Problem
}

// ShowRecord prints a record. The encoder escapes unprintable text, and on a terminal
// CleanBlock escapes remaining control characters.
func ShowRecord(c *invoke.Invocation, r *checkpoint.Record, format string) error {
	encode := r.Encode
	if format == "json" {
		encode = func() ([]byte, error) {
			data, err := r.JSON()
			return append(data, '\n'), err
		}
	}
	data, err := encode()
	if err != nil {
		return err
	}
	return ShowText(c, data)
}

// ShowText prints a text that may contain control characters, in the pager if it is long.
func ShowText(c *invoke.Invocation, data []byte) error {
	if c.AtTerminal() {
		data = []byte(output.CleanBlock(string(data)))
	}
	defer c.Page()()
	_, err := c.Out.Write(data)
	if invoke.LeftPager(err) {
		return nil
	}
	return err
}

// pendingCaptures returns the record's pending captures, except those that were captured
// since.
func pendingCaptures(r *checkpoint.Record) []string {
	var pending []string
	for _, v := range r.PendingCaptures() {
		if text := fmt.Sprint(v); !slices.Contains(r.CapturedEntries(), text) {
			pending = append(pending, text)
		}
	}
	return pending
}

// phaseText returns a text such as "implementing, phase 3 of 5; left: validation, docs".
func phaseText(at standing, p checkpoint.Progress) string {
	switch {
	case at.Complete:
		return fmt.Sprintf("all %d completed", max(p.Total, len(p.Completed)))
	case at.Phase == "":
		return "none recorded"
	case p.Total == 0:
		return at.Phase
	}
	text := at.Phase
	if n := slices.Index(p.Names, at.Phase) + 1; n > 0 {
		text += fmt.Sprintf(", phase %d of %d", n, p.Total)
	} else {
		text += fmt.Sprintf(" of %d", p.Total)
	}
	if left := slices.DeleteFunc(slices.Clone(at.Remaining), func(s string) bool { return s == at.Phase }); len(left) > 0 {
		text += "; left: " + phrase.List(phrase.Few(left, 8))
	}
	return text
}

// tasksText counts the tasks and lists the open tasks by status.
func tasksText(all []tasks.Task) string {
	if len(all) == 0 {
		return ""
	}
	over := 0
	var words []string
	left := map[string][]string{}
	for _, t := range all {
		if t.Over() {
			over++
			continue
		}
		if left[t.Status] == nil {
			words = append(words, t.Status)
		}
		left[t.Status] = append(left[t.Status], t.ID)
	}
	text := fmt.Sprintf("%d of %d done", over, len(all))
	for _, word := range words {
		text += "; " + word + ": " + phrase.List(phrase.Few(left[word], 5))
	}
	return text
}
