// Package checkpoint implements the record of a checkpoint: ids and issue keys, the
// document, its canonical text, and its rules.
//
// # Record
//
// A record is a YAML mapping. Its base is the crunch schema with an additional key,
// trigger. Then come git-checkpoint's own keys from note to snapshot, sections of
// other layouts, and unknown keys in their original order. The table in schema.go lists
// all fields with their kinds, rules and meaning, in the order of the text. Null is permitted
// everywhere and means absent. These keys are not in the table, or need more words:
//
//	progress        awaiting_approval: phases, a text or a list;
//	                approval_required: phases that always need approval;
//	                approved: a list of {phase, approved_at}
//	clock           see Clock
//	paths           plain; in git's C quotes if a path is not UTF-8, contains a
//	                NUL or starts with a quote: see QuotePath
//
// The canonical text of a record is that of package document.
package checkpoint

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint/document"
)

// Version is the schema version of new records.
const Version = "1.0"

// Record is the document of a checkpoint: the crunch schema, git-checkpoint's own keys,
// and unknown keys.
type Record struct{ doc *Map }

// New returns a record with only a version.
func New() *Record {
	r := &Record{NewMap()}
	r.doc.Set("version", Version)
	return r
}

// FromDoc returns a record with document m, unchecked. The record takes ownership of m. A
// nil m means an empty document.
func FromDoc(m *Map) *Record {
	if m == nil {
		m = NewMap()
	}
	return &Record{m}
}

// Doc returns the document. Changes to it modify the record.
func (r *Record) Doc() *Map { return r.doc }

// Clone returns a deep copy of r.
func (r *Record) Clone() *Record { return &Record{r.doc.Clone()} }

// JSON returns the record as a line of JSON, with the key order of Encode and unchanged
// numbers.
func (r *Record) JSON() ([]byte, error) {
	b, err := document.AppendJSON(nil, recordSchema().ordered(r.doc), 0)
	if err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	return b, nil
}

// MarshalJSON returns the output of JSON.
func (r *Record) MarshalJSON() ([]byte, error) { return r.JSON() }

// Trigger is the cause of a checkpoint.
type Trigger string

// Known triggers. Other triggers are permitted; their checkpoints are kept forever, with
// a warning.
const (
	PhaseTransition  Trigger = "phase_transition"
	BatchComplete    Trigger = "batch_complete"
	AgentComplete    Trigger = "agent_complete"
	ConflictStart    Trigger = "conflict_start"
	ConflictResolved Trigger = "conflict_resolved"
	UserInterrupt    Trigger = "user_interrupt"
	SessionEnd       Trigger = "session_end"
	Manual           Trigger = "manual"
	BatchStart       Trigger = "batch_start"
	BeforeAgent      Trigger = "before_agent"
	BeforeParallel   Trigger = "before_parallel"
	TaskUpdate       Trigger = "task_update"
	Interval         Trigger = "interval"
	Turn             Trigger = "turn"
)

var triggers = []Trigger{
	PhaseTransition, BatchComplete, AgentComplete, ConflictStart,
	ConflictResolved, UserInterrupt, SessionEnd, Manual, BatchStart,
	BeforeAgent, BeforeParallel, TaskUpdate, Interval, Turn,
}

// Triggers returns the known triggers in documented order.
func Triggers() []Trigger { return slices.Clone(triggers) }

// Known reports whether t is in Triggers.
func (t Trigger) Known() bool { return slices.Contains(triggers, t) }

// Automatic reports whether auto_checkpoint can disable checkpoints with this trigger.
// Triggers of a person and session ends are not automatic. Checkpoints with unknown
// triggers are always saved.
func (t Trigger) Automatic() bool {
	switch t {
	case UserInterrupt, SessionEnd, Manual:
		return false
	}
	return t.Known()
}

var triggerShape = document.Pattern(`^[a-z0-9_]{1,64}$`)

// ParseTrigger checks only the syntax of s: 1 to 64 lower-case letters, digits and '_'.
func ParseTrigger(s string) (Trigger, error) {
	if !Trigger(s).Known() && !triggerShape().MatchString(s) {
		return "", fmt.Errorf("trigger %.80q: want 1 to 64 of a-z, 0-9 and _", s)
	}
	return Trigger(s), nil
}

// Accessors of fields. A getter returns the zero value if its field is absent or has the wrong
// kind, which Decode and Validate report; an absent can_resume or prerequisites_met counts as
// true. A setter of a text deletes the field if the text is empty.

// Fields at the top level. A time is set with microseconds.
func (r *Record) ID() ID                   { return ID(r.doc.Text("checkpoint_id")) }
func (r *Record) SetID(id ID)              { r.doc.Set("checkpoint_id", id) }
func (r *Record) Version() string          { return r.doc.Text("version") }
func (r *Record) SetVersion(s string)      { r.doc.Set("version", s) }
func (r *Record) CreatedAt() time.Time     { return moment(r.doc, "created_at") }
func (r *Record) SetCreatedAt(t time.Time) { r.doc.Set("created_at", t) }
func (r *Record) Trigger() Trigger         { return Trigger(r.doc.Text("trigger")) }
func (r *Record) SetTrigger(t Trigger)     { r.doc.Set("trigger", t) }
func (r *Record) Session() string          { return r.doc.Text("session_id") }
func (r *Record) SetSession(s string)      { r.doc.SetText("session_id", s) }
func (r *Record) Note() string             { return r.doc.Text("note") }
func (r *Record) SetNote(s string)         { r.doc.SetText("note", s) }
func (r *Record) Clock() Clock             { return Clock(r.doc.Int("clock")) }
func (r *Record) SetClock(c Clock)         { r.doc.Set("clock", c) }
func (r *Record) Issue() Issue             { return Issue(r.doc.Text("issue_number")) }

// SetIssue sets issue_number, as an integer if possible.
func (r *Record) SetIssue(i Issue) {
	if n, ok := i.Number(); ok {
		r.doc.Set("issue_number", n)
		return
	}
	r.doc.Set("issue_number", i)
}

// Fields of workflow_state.
func (r *Record) Phase() string                 { return r.state().Text("current_phase") }
func (r *Record) SetPhase(s string)             { r.mustState().SetText("current_phase", s) }
func (r *Record) SetStateLabel(s string)        { r.mustState().SetText("current_state_label", s) }
func (r *Record) PhaseStartedAt() time.Time     { return moment(r.state(), "phase_started_at") }
func (r *Record) SetPhaseStartedAt(t time.Time) { r.mustState().Set("phase_started_at", t) }
func (r *Record) PhaseAttempt() int             { return int(r.state().Int("phase_attempt")) }
func (r *Record) SetPhaseAttempt(n int)         { r.mustState().Set("phase_attempt", n) }
func (r *Record) state() *Map                   { return r.doc.Sub("workflow_state") }
func (r *Record) mustState() *Map               { return r.doc.MustSub("workflow_state") }

// Fields of execution_graph.
func (r *Record) CurrentBatch() int           { return int(r.doc.Sub(graph).Int("current_batch")) }
func (r *Record) SetCurrentBatch(n int)       { r.doc.MustSub(graph).Set("current_batch", n) }
func (r *Record) SetCompletedBatches(n []int) { r.doc.MustSub(graph).Set("completed_batches", n) }

const graph = "execution_graph"

// CompletedBatches returns execution_graph.completed_batches, without values that are no integers.
func (r *Record) CompletedBatches() []int {
	var out []int
	for _, s := range r.doc.Sub(graph).Texts("completed_batches") {
		if n, ok := Number(s).Int(); ok {
			out = append(out, int(n))
		}
	}
	return out
}

// A Member is an agent of a team, with the numbers of its tasks.
type Member struct {
	Agent     string `record:"agent"`
	Role      string `record:"role"`
	Status    string `record:"status"`
	Completed int    `record:"tasks_completed"`
	Pending   int    `record:"tasks_pending"`
}

// Members returns team_state.members.
func (r *Record) Members() []Member {
	var team struct {
		Members []Member `record:"members"`
	}
	Load(r.doc.Sub("team_state"), &team)
	return team.Members
}

// Fields of acp_state.
func (r *Record) PendingMessages() []string  { return r.messages().Texts("pending_messages") }
func (r *Record) AwaitingResponse() []string { return r.messages().Texts("awaiting_response") }
func (r *Record) Conflicts() []string        { return r.messages().Texts("conflicts_in_progress") }
func (r *Record) messages() *Map             { return r.doc.Sub("acp_state") }

// SetConflicts sets acp_state.conflicts_in_progress.
func (r *Record) SetConflicts(ids []string) {
	r.doc.MustSub("acp_state").Set("conflicts_in_progress", ids)
}

// CapturedEntries returns knowledge_context.captured_entries.
func (r *Record) CapturedEntries() []string {
	return r.doc.Sub("knowledge_context").Texts("captured_entries")
}

// PendingCaptures returns knowledge_context.pending_captures, with elements of any type.
func (r *Record) PendingCaptures() []any {
	return r.doc.Sub("knowledge_context").List("pending_captures")
}

// Fields of recovery_info.
func (r *Record) CanResume() bool            { return boolean(r.recovery(), "can_resume", true) }
func (r *Record) SetCanResume(b bool)        { r.mustRecovery().Set("can_resume", b) }
func (r *Record) ResumeFrom() string         { return r.recovery().Text("resume_from") }
func (r *Record) SetResumeFrom(s string)     { r.mustRecovery().SetText("resume_from", s) }
func (r *Record) SetPrerequisitesMet(b bool) { r.mustRecovery().Set("prerequisites_met", b) }
func (r *Record) Warnings() []string         { return r.recovery().Texts("warnings") }
func (r *Record) SetWarnings(list []string)  { r.mustRecovery().Set("warnings", list) }
func (r *Record) recovery() *Map             { return r.doc.Sub("recovery_info") }
func (r *Record) mustRecovery() *Map         { return r.doc.MustSub("recovery_info") }

func moment(m *Map, key string) time.Time {
	v, _ := m.Get(key)
	t, err := ParseTime(v)
	if err != nil {
		return time.Time{}
	}
	return t
}

// PrerequisitesMet returns recovery_info.prerequisites_met.
func (r *Record) PrerequisitesMet() bool {
	return boolean(r.recovery(), "prerequisites_met", true)
}

func boolean(m *Map, key string, absent bool) bool {
	v, _ := m.Get(key)
	if b, ok := v.(bool); ok {
		return b
	}
	return absent
}

// major returns the part of a version before the first dot.
func major(version string) string {
	m, _, _ := strings.Cut(version, ".")
	return m
}
