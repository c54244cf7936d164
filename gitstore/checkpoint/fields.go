package checkpoint

import (
	"time"

	"git-checkpoint/gitstore/checkpoint/document"
)

// Record accessors return the zero value if a field is absent or has the wrong kind.
// Decode and Validate report such fields.

// ID returns checkpoint_id.
func (r *Record) ID() ID { return ID(document.TextOf(r.doc, "checkpoint_id")) }

// SetID sets checkpoint_id.
func (r *Record) SetID(id ID) { r.doc.Set("checkpoint_id", id) }

// Version returns the schema version as written.
func (r *Record) Version() string { return document.TextOf(r.doc, "version") }

// SetVersion sets the schema version.
func (r *Record) SetVersion(v string) { r.doc.Set("version", v) }

// CreatedAt returns created_at, the zero time if invalid.
func (r *Record) CreatedAt() time.Time { return moment(r.doc, "created_at") }

// SetCreatedAt sets created_at with microseconds.
func (r *Record) SetCreatedAt(t time.Time) { r.doc.Set("created_at", t) }

// Trigger returns trigger.
func (r *Record) Trigger() Trigger { return Trigger(document.TextOf(r.doc, "trigger")) }

// SetTrigger sets trigger.
func (r *Record) SetTrigger(t Trigger) { r.doc.Set("trigger", t) }

// Issue returns issue_number, a number or text.
func (r *Record) Issue() Issue { return Issue(document.TextOf(r.doc, "issue_number")) }

// SetIssue sets issue_number, as an integer if possible.
func (r *Record) SetIssue(i Issue) {
	if n, ok := i.Number(); ok {
		r.doc.Set("issue_number", n)
		return
	}
	r.doc.Set("issue_number", i)
}

// Session returns session_id.
func (r *Record) Session() string { return document.TextOf(r.doc, "session_id") }

// SetSession sets session_id.
func (r *Record) SetSession(s string) { setOrDelete(r.doc, "session_id", s) }

// Note returns the user's note.
func (r *Record) Note() string { return document.TextOf(r.doc, "note") }

// SetNote sets the note; an empty text deletes it.
func (r *Record) SetNote(s string) { setOrDelete(r.doc, "note", s) }

// Clock returns the hybrid logical clock, 0 if absent.
func (r *Record) Clock() Clock { return Clock(integer(r.doc, "clock")) }

// SetClock sets the clock.
func (r *Record) SetClock(c Clock) { r.doc.Set("clock", c) }

// Phase returns workflow_state.current_phase.
func (r *Record) Phase() string { return document.TextOf(r.section("workflow_state"), "current_phase") }

// SetPhase sets workflow_state.current_phase.
func (r *Record) SetPhase(s string) {
	setOrDelete(r.mustSection("workflow_state"), "current_phase", s)
}

// StateLabel returns workflow_state.current_state_label.
func (r *Record) StateLabel() string {
	return document.TextOf(r.section("workflow_state"), "current_state_label")
}

// SetStateLabel sets workflow_state.current_state_label.
func (r *Record) SetStateLabel(s string) {
	setOrDelete(r.mustSection("workflow_state"), "current_state_label", s)
}

// PhaseStartedAt returns workflow_state.phase_started_at.
func (r *Record) PhaseStartedAt() time.Time {
	return moment(r.section("workflow_state"), "phase_started_at")
}

// SetPhaseStartedAt sets workflow_state.phase_started_at.
func (r *Record) SetPhaseStartedAt(t time.Time) {
	r.mustSection("workflow_state").Set("phase_started_at", t)
}

// PhaseAttempt returns workflow_state.phase_attempt.
func (r *Record) PhaseAttempt() int {
	return int(integer(r.section("workflow_state"), "phase_attempt"))
}

// SetPhaseAttempt sets workflow_state.phase_attempt.
func (r *Record) SetPhaseAttempt(n int) { r.mustSection("workflow_state").Set("phase_attempt", n) }

// CompletedBatches returns execution_graph.completed_batches.
func (r *Record) CompletedBatches() []int {
	return integers(r.section("execution_graph"), "completed_batches")
}

// SetCompletedBatches sets execution_graph.completed_batches.
func (r *Record) SetCompletedBatches(n []int) {
	r.mustSection("execution_graph").Set("completed_batches", n)
}

// CurrentBatch returns execution_graph.current_batch, 0 if absent.
func (r *Record) CurrentBatch() int {
	return int(integer(r.section("execution_graph"), "current_batch"))
}

// SetCurrentBatch sets execution_graph.current_batch.
func (r *Record) SetCurrentBatch(n int) { r.mustSection("execution_graph").Set("current_batch", n) }

// PendingMessages returns acp_state.pending_messages.
func (r *Record) PendingMessages() []string {
	return document.TextsOf(r.section("acp_state"), "pending_messages")
}

// AwaitingResponse returns acp_state.awaiting_response.
func (r *Record) AwaitingResponse() []string {
	return document.TextsOf(r.section("acp_state"), "awaiting_response")
}

// Conflicts returns acp_state.conflicts_in_progress.
func (r *Record) Conflicts() []string {
	return document.TextsOf(r.section("acp_state"), "conflicts_in_progress")
}

// SetConflicts sets acp_state.conflicts_in_progress.
func (r *Record) SetConflicts(ids []string) {
	r.mustSection("acp_state").Set("conflicts_in_progress", ids)
}

// CapturedEntries returns knowledge_context.captured_entries.
func (r *Record) CapturedEntries() []string {
	return document.TextsOf(r.section("knowledge_context"), "captured_entries")
}

// PendingCaptures returns knowledge_context.pending_captures, with elements of any type.
func (r *Record) PendingCaptures() []any {
	v, _ := r.section("knowledge_context").Get("pending_captures")
	l, _ := v.([]any)
	return l
}
