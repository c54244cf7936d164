package output

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

	AutoResume       bool     `json:"auto_resume"`
	AutoResumeReason string   `json:"auto_resume_reason"`
	AwaitingApproval []string `json:"awaiting_approval"`

	SkippedPhases    []string       `json:"skipped_phases"`
	Replans          map[string]int `json:"replans"` // number of replans by phase
	Artifacts        []Artifact     `json:"artifacts"`
	PreservedMinutes float64        `json:"preserved_minutes"` // duration of completed phases

	Next string `json:"next" empty:"null"` // next action of another system's workflow
}

// Artifact is an output file of a phase.
type Artifact struct {
	Phase  string `json:"phase"`
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	Digest string `json:"digest" empty:"null"`
	Title  string `json:"title"`
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
	Restored   []string `json:"restored"`
	Undo       string   `json:"undo" empty:"null"`
	Checkpoint any      `json:"checkpoint"`

	PhaseAttempt int `json:"phase_attempt"` // attempt of the current phase; 0 if unknown

	LabelsAdded   []string `json:"labels_added"`
	LabelsRemoved []string `json:"labels_removed"`
}

// Restore lists files of a checkpoint by result. Restored files were written. Skipped files
// were changed since and remain unchanged. Files in InTheWay were not restored, because
// an untracked file exists at the path.
type Restore struct {
	Type         string   `json:"type"`
	CheckpointID string   `json:"checkpoint_id" empty:"null"`
	Restored     []string `json:"restored"`
	Skipped      []string `json:"skipped"`
	InTheWay     []string `json:"in_the_way"`
	Undo         string   `json:"undo" empty:"null"`
}
