package output

// Status is the progress and the freshness of a checkpoint. Remaining are the
// phases to go, Changed the paths that changed since. AutoResume says whether
// nothing stands against a resume without anybody to ask; the reason is of the
// run before alone.
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
	Replans          map[string]int `json:"replans"` // by phase, how often it was planned anew
	Artifacts        []Artifact     `json:"artifacts"`
	PreservedMinutes float64        `json:"preserved_minutes"` // that the completed phases took

	Next string `json:"next" empty:"null"` // what another system's work does next
}

// Artifact is a file that a phase left behind.
type Artifact struct {
	Phase  string `json:"phase"`
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	Digest string `json:"digest" empty:"null"`
	Title  string `json:"title"`
}

// ReasonRecord is one finding of a verdict.
type ReasonRecord struct {
	Check    string `json:"check"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
}

// Batches is the progress of the execution graph; Current is 0 without one.
// Pending are the tasks that are not over, in batches that can run one after
// the other.
type Batches struct {
	Completed []int      `json:"completed"`
	Current   int        `json:"current"`
	Pending   [][]string `json:"pending"`
}

// Resume is the verdict on a checkpoint and what was done. Undo is the command
// or ref that takes the files back. Checkpoint is as in Show. LabelsAdded and
// LabelsRemoved are what --sync-issue wrote to the issue, or would write.
type Resume struct {
	Status
	Restored   []string `json:"restored"`
	Undo       string   `json:"undo" empty:"null"`
	Checkpoint any      `json:"checkpoint"`

	PhaseAttempt int `json:"phase_attempt"` // of the work that goes on, 0 where nobody counted

	LabelsAdded   []string `json:"labels_added"`
	LabelsRemoved []string `json:"labels_removed"`
}

// Restore is what happened to the files of a checkpoint: put back, changed
// since and left alone, or not written for a file that is in the way.
type Restore struct {
	Type         string   `json:"type"`
	CheckpointID string   `json:"checkpoint_id" empty:"null"`
	Restored     []string `json:"restored"`
	Skipped      []string `json:"skipped"`
	InTheWay     []string `json:"in_the_way"`
	Undo         string   `json:"undo" empty:"null"`
}
