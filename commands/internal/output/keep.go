package output

// Prune holds retention decisions, applied unless DryRun is true.
type Prune struct {
	Type      string     `json:"type"`
	Plan      string     `json:"plan" empty:"null"`
	DryRun    bool       `json:"dry_run"`
	Decisions []Decision `json:"decisions"`
	Removed   []string   `json:"removed"`
	Kept      []string   `json:"kept"`
}

// Decision is the retention decision for one checkpoint.
type Decision struct {
	CheckpointID string `json:"checkpoint_id" empty:"null"`
	Keep         bool   `json:"keep"`
	Rule         string `json:"rule"`
	Issue        string `json:"issue" empty:"null"`
}

// ActionResult is the described result of pin, drop, archive or undo.
type ActionResult struct {
	Type          string   `json:"type"`
	Issue         string   `json:"issue" empty:"null"`
	CheckpointIDs []string `json:"checkpoint_ids"`
	Result        string   `json:"result"`
}

// Doctor is the result of doctor: Verify, and sizes of issues with --sizes.
type Doctor struct {
	Verify
	Sizes []Size `json:"sizes"`
}

// Size is the disk space used by an issue's checkpoints alone.
type Size struct {
	Issue       string `json:"issue" empty:"null"`
	Checkpoints int    `json:"checkpoints"`
	Bytes       int64  `json:"bytes"`
}

// Verify is the result of verify; Checked counts checkpoints.
type Verify struct {
	Type     string   `json:"type"`
	Valid    bool     `json:"valid"`
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
	Checked  int      `json:"checked"`
	Fixed    []string `json:"fixed"`
}

// Scan lists possible secrets without their text. Skipped lists unscanned files.
type Scan struct {
	Type     string        `json:"type"`
	Findings []ScanFinding `json:"findings"`
	Skipped  []Skipped     `json:"skipped"`
}

// ScanFinding is one match of a scan rule.
type ScanFinding struct {
	CheckpointID string `json:"checkpoint_id" empty:"null"`
	Path         string `json:"path"`
	Line         int    `json:"line"`
	Rule         string `json:"rule"`
}
