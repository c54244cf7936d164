package output

import "time"

// Save is what save, start and run did. A save that was skipped has no
// checkpoint and the reason in Skipped.
type Save struct {
	Type         string    `json:"type"`
	CheckpointID string    `json:"checkpoint_id" empty:"null"`
	Skipped      string    `json:"skipped" empty:"null"`
	Issue        string    `json:"issue" empty:"null"`
	Commit       string    `json:"commit" empty:"null"`
	Ref          string    `json:"ref" empty:"null"`
	Trigger      string    `json:"trigger"`
	Phase        string    `json:"phase"`
	CreatedAt    time.Time `json:"created_at"`
	Files        int       `json:"files"`
	Pruned       []string  `json:"pruned"`
	Warnings     []string  `json:"warnings"`
}

// WorkflowStep is what phase, task and finish did.
type WorkflowStep struct {
	Save
	Progress Progress `json:"progress"`
}

// Progress says how far the phases of a workflow are: skipped ones are neither
// completed nor remaining. Replans counts by phase how often it was planned
// anew; Awaiting are phases that wait for an approval.
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

// Tasks is what task did, and where that leaves the tasks: Batches are those
// that are not over, in the order in which they can run, and Ready those that
// can begin now.
type Tasks struct {
	WorkflowStep
	Tasks   []Task     `json:"tasks"`
	Batches [][]string `json:"batches"`
	Ready   []string   `json:"ready"`
}

// Task is one task. By is who claimed it, WaitsFor the failed task that keeps
// it from running.
type Task struct {
	ID       string   `json:"id"`
	Status   string   `json:"status"`
	Attempts int      `json:"attempts"`
	Output   string   `json:"output" empty:"null"`
	Error    string   `json:"error" empty:"null"`
	Needs    []string `json:"depends_on"`
	By       string   `json:"claimed_by" empty:"null"`
	WaitsFor string   `json:"waits_for" empty:"null"`
}
