package view

import (
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// Save is the result of save, start or run. A skipped save has no checkpoint, and Skipped
// holds the reason. A dry run has no checkpoint either: it describes what would be saved.
type Save struct {
	Type         string               `json:"type"`
	DryRun       bool                 `json:"dry_run"`
	CheckpointID string               `json:"checkpoint_id" empty:"null"`
	Skipped      string               `json:"skipped" empty:"null"`
	Issue        string               `json:"issue" empty:"null"`
	Commit       string               `json:"commit" empty:"null"`
	Ref          string               `json:"ref" empty:"null"`
	Trigger      string               `json:"trigger"`
	Phase        string               `json:"phase"`
	CreatedAt    time.Time            `json:"created_at"`
	Files        int                  `json:"files"`
	Scope        string               `json:"scope" empty:"null"`
	LeftOut      []checkpoint.Skipped `json:"left_out"`
	Pruned       []string             `json:"pruned"`
	Warnings     []string             `json:"warnings"`
}

// WorkflowStep is the result of phase, task or finish.
type WorkflowStep struct {
	Save
	Progress Progress `json:"progress"`
}

// Progress is the progress of a workflow's phases. Skipped phases count neither as
// completed nor as remaining. Replans counts replans by phase; Awaiting lists phases
// awaiting approval.
type Progress struct {
	Current   string         `json:"current"`
	Completed []string       `json:"completed"`
	Skipped   []string       `json:"skipped"`
	Remaining []string       `json:"remaining"`
	Total     int            `json:"total"`
	Complete  bool           `json:"complete"`
	Replans   map[string]int `json:"replans"`
	Awaiting  []string       `json:"awaiting_approval"`
}

// Tasks is the result of task with the new state of tasks. Batches lists unfinished tasks
// in execution order; Ready lists tasks that can start now.
type Tasks struct {
	WorkflowStep
	Tasks   []tasks.Task `json:"tasks"`
	Batches [][]string   `json:"batches"`
	Ready   []string     `json:"ready"`
}

// Status is the progress and freshness of a checkpoint. Remaining lists remaining phases;
// Changed lists paths changed since. AutoResume reports whether an unattended resume is
// safe. AutoResumeReason covers only conditions of the previous run.
type Status struct {
	Type            string         `json:"type"`
	CheckpointID    string         `json:"checkpoint_id" empty:"null"`
	Issue           string         `json:"issue" empty:"null"`
	Action          string         `json:"action"`
	CanResume       bool           `json:"can_resume"`
	Complete        bool           `json:"complete"`
	Warnings        []string       `json:"warnings"`
	Reasons         []ReasonRecord `json:"reasons"`
	ResumeFrom      string         `json:"resume_from"`
	CurrentPhase    string         `json:"current_phase"`
	CompletedPhases []string       `json:"completed_phases"`
	Remaining       []string       `json:"remaining"`
	Batches         Batches        `json:"batches"`
	PendingCaptures []string       `json:"pending_captures"`
	Changed         []string       `json:"changed"`
	Unsaved         []string       `json:"unsaved"`

	AutoResume       bool     `json:"auto_resume"`
	AutoResumeReason string   `json:"auto_resume_reason"`
	AwaitingApproval []string `json:"awaiting_approval"`

	SkippedPhases    []string       `json:"skipped_phases"`
	Replans          map[string]int `json:"replans"` // number of replans by phase
	Artifacts        []progress.Of  `json:"artifacts"`
	PreservedMinutes float64        `json:"preserved_minutes"` // duration of completed phases

	ArtifactPaths     any       `json:"artifact_paths"`   // paths by name, from a recovery document
	ContextMetadata   any       `json:"context_metadata"` // from a recovery document
	SessionID         string    `json:"session_id" empty:"null"`
	SessionAgent      string    `json:"session_agent" empty:"null"`
	SessionTranscript string    `json:"session_transcript" empty:"null"` // if this clone has the session's record
	SessionCommand    string    `json:"session_command" empty:"null"`    // continues the session
	SessionAt         time.Time `json:"session_at"`                      // last checkpoint of the session
	GivenTo           string    `json:"given_to" empty:"null"`           // agent whose session got the work last in this clone
	GivenSession      string    `json:"given_session" empty:"null"`
	GivenAt           time.Time `json:"given_at"`
	GivenCut          bool      `json:"given_cut"`
	NotPushed         string    `json:"not_pushed" empty:"null"` // why the last push in the background failed

	Next    string  `json:"next" empty:"null"` // next action of another system's workflow
	Stories []Story `json:"stories"`

	SavedBy  string             `json:"saved_by" empty:"null"`
	WentBack *WentBack          `json:"went_back"` // nil if no person went back
	Tokens   *checkpoint.Tokens `json:"tokens"`    // sum of all turns, nil if unknown
	Spent    []checkpoint.Spent `json:"spent"`     // the same by agent, model and phase
	Parallel []Parallel         `json:"parallel"`

	Fork *checkpoint.Fork `json:"fork"` // nil if the issue is not a fork

	Archived   string    `json:"archived" empty:"null"` // reason of the archival of finished work
	ArchivedAt time.Time `json:"archived_at"`
}

// WentBack is a person's restore of a checkpoint that is not the newest: the work goes on from
// it. Left lists the later checkpoints, newest first.
type WentBack struct {
	CheckpointID string    `json:"checkpoint_id"`
	By           string    `json:"by" empty:"null"`
	At           time.Time `json:"at"`
	Left         []string  `json:"left"`
}

// Parallel is a checkpoint that was saved in parallel to the files in this worktree, and that has
// Files which are not here. Command merges them. Refused is the reason if it would be refused.
type Parallel struct {
	CheckpointID string    `json:"checkpoint_id"`
	SavedBy      string    `json:"saved_by" empty:"null"`
	CreatedAt    time.Time `json:"created_at"`
	Files        []string  `json:"files"`
	Refused      string    `json:"refused" empty:"null"`
	Command      string    `json:"command"`
}

// Story is a story of a pipeline's lead. The state of a queued story is "". Conflict describes
// the difference between the lead's record and the story's own record.
type Story struct {
	ID         string `json:"story"`
	State      string `json:"state"`
	CrashCount int    `json:"crash_count"`
	Conflict   string `json:"conflict" empty:"null"`
}

// ReasonRecord is one finding in a verdict.
type ReasonRecord struct {
	Check    string `json:"check"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
}

// Batches is the progress of the execution graph; Current is 0 without a graph. Pending
// lists unfinished tasks as batches in execution order.
type Batches struct {
	Completed []int      `json:"completed"`
	Current   int        `json:"current"`
	Pending   [][]string `json:"pending"`
}

// Resume is the verdict on a checkpoint and the result of a resume. Undo is the command
// or ref for undoing changes to files. Checkpoint has the same type as in Show.
// LabelsAdded and LabelsRemoved list actual or planned label changes of --sync-issue.
type Resume struct {
	Status
	DryRun     bool     `json:"dry_run"`
	Restored   []string `json:"restored"`
	Removed    []string `json:"removed"`
	Conflicts  []string `json:"conflicts"`
	Undo       string   `json:"undo" empty:"null"`
	Checkpoint any      `json:"checkpoint"`

	PhaseAttempt int `json:"phase_attempt"` // attempt of the current phase; 0 if unknown

	LabelsAdded   []string `json:"labels_added"`
	LabelsRemoved []string `json:"labels_removed"`

	Start []string `json:"start"` // words of the command that starts the agent of --to
}

// Restore lists files of a checkpoint by result. Restored files were written, or would be
// if DryRun is true. Removed are the restored files that are deleted.
// Skipped files were changed since and remain unchanged. Files in InTheWay were not
// restored, because an untracked file exists at the path. Conflicts are the restored files
// whose merge left conflicts. Hints are the next commands. Nothing is the reason if there was
// nothing to restore, or empty. MovedPoint is true if the work goes on from this checkpoint, and
// went on from another one before.
type Restore struct {
	Type          string               `json:"type"`
	DryRun        bool                 `json:"dry_run"`
	CheckpointID  string               `json:"checkpoint_id" empty:"null"`
	Restored      []string             `json:"restored"`
	Removed       []string             `json:"removed"`
	Skipped       []string             `json:"skipped"`
	InTheWay      []string             `json:"in_the_way"`
	Sparse        []string             `json:"sparse"`
	LeftOut       []checkpoint.Skipped `json:"left_out"`
	OtherSessions []string             `json:"other_sessions"`
	Conflicts     []string             `json:"conflicts"`

	Sessions []SessionFile `json:"sessions"` // of OtherSessions

	Undo    string   `json:"undo" empty:"null"`
	Hints   []string `json:"hints"`
	Nothing string   `json:"nothing" empty:"null"`

	MovedPoint bool `json:"moved_point"`
}
