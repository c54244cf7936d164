package view

import "time"

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

// ActionResult is the described result of pin, drop or archive.
type ActionResult struct {
	Type          string   `json:"type"`
	Issue         string   `json:"issue" empty:"null"`
	CheckpointIDs []string `json:"checkpoint_ids"`
	Result        string   `json:"result"`
}

// Undo is the result of undo or redo, or their plan if DryRun is true. Result is the command of
// the operation, At is its time, for redo the time of its undo, and Number is its number in the
// worktree. HEAD returns to Branch, "" if it stays. Only operations that restored files have
// paths: Restored paths have the former content, and Removed are those of them that are
// deleted. Skipped paths have changed since and stay. Committed are the skipped paths that a
// commit has changed.
type Undo struct {
	Type          string    `json:"type"`
	Issue         string    `json:"issue" empty:"null"`
	CheckpointIDs []string  `json:"checkpoint_ids"`
	Result        string    `json:"result"`
	DryRun        bool      `json:"dry_run"`
	At            time.Time `json:"at"`
	CheckpointID  string    `json:"checkpoint_id" empty:"null"`
	Restored      []string  `json:"restored"`
	Removed       []string  `json:"removed"`
	Skipped       []string  `json:"skipped"`
	Committed     []string  `json:"committed"`
	Number        int       `json:"number"`
	Branch        string    `json:"branch" empty:"null"`
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

// Sync is the result of sync, push or fetch.
type Sync struct {
	Type   string   `json:"type"`
	DryRun bool     `json:"dry_run"`
	Remote string   `json:"remote" empty:"null"`
	Issues []Synced `json:"issues"`

	Untracked []string `json:"untracked"` // untracked files that the push makes public
}

// Synced is the result for one issue, with numbers of checkpoints.
type Synced struct {
	Issue   string `json:"issue" empty:"null"`
	Fetched int    `json:"fetched"`
	Pushed  int    `json:"pushed"`
	Joined  bool   `json:"joined"`
	Result  string `json:"result"`

	Archived int `json:"archived"` // checkpoints that one of the sides did not have as archived
	Dropped  int `json:"dropped"`  // checkpoints that one of the sides did not have as dropped
}
