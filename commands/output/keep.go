package output

// Prune is what retention decided, and did unless DryRun.
type Prune struct {
	Type      string     `json:"type"`
	Plan      string     `json:"plan" empty:"null"`
	DryRun    bool       `json:"dry_run"`
	Decisions []Decision `json:"decisions"`
	Removed   []string   `json:"removed"`
	Kept      []string   `json:"kept"`
}

// Decision is what retention decided on one checkpoint.
type Decision struct {
	CheckpointID string `json:"checkpoint_id" empty:"null"`
	Keep         bool   `json:"keep"`
	Rule         string `json:"rule"`
	Issue        string `json:"issue" empty:"null"`
}

// ActionResult is what pin, drop, archive and undo did, in words.
type ActionResult struct {
	Type          string   `json:"type"`
	Issue         string   `json:"issue" empty:"null"`
	CheckpointIDs []string `json:"checkpoint_ids"`
	Result        string   `json:"result"`
}

// Doctor is what doctor found: Verify, and with --sizes what issues take.
type Doctor struct {
	Verify
	Sizes []Size `json:"sizes"`
}

// Size is the room that an issue's checkpoints take alone.
type Size struct {
	Issue       string `json:"issue" empty:"null"`
	Checkpoints int    `json:"checkpoints"`
	Bytes       int64  `json:"bytes"`
}

// Verify is what verify found; Checked counts checkpoints.
type Verify struct {
	Type     string   `json:"type"`
	Valid    bool     `json:"valid"`
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
	Checked  int      `json:"checked"`
	Fixed    []string `json:"fixed"`
}

// Scan is the places that look like secrets. It never holds the secret. Skipped
// are the files that were not looked at.
type Scan struct {
	Type     string        `json:"type"`
	Findings []ScanFinding `json:"findings"`
	Skipped  []Skipped     `json:"skipped"`
}

// ScanFinding is one place that a rule of the scan found.
type ScanFinding struct {
	CheckpointID string `json:"checkpoint_id" empty:"null"`
	Path         string `json:"path"`
	Line         int    `json:"line"`
	Rule         string `json:"rule"`
}
