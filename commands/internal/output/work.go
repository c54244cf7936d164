package output

import "time"

// Save is the result of save, start or run. A skipped save has no checkpoint, and Skipped
// holds the reason.
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
	Tasks   []Task     `json:"tasks"`
	Batches [][]string `json:"batches"`
	Ready   []string   `json:"ready"`
}

// Task is one task. By names its claimant; WaitsFor names the failed task that blocks it.
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
