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

// Step is what phase, task and finish did.
type Step struct {
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
