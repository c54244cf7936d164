package output

// Sync is what sync, push and fetch did.
type Sync struct {
	Type   string   `json:"type"`
	Remote string   `json:"remote" empty:"null"`
	Issues []Synced `json:"issues"`
}

// Synced is what happened to one issue; the numbers count checkpoints.
type Synced struct {
	Issue   string `json:"issue" empty:"null"`
	Fetched int    `json:"fetched"`
	Pushed  int    `json:"pushed"`
	Joined  bool   `json:"joined"`
	Result  string `json:"result"`
}

// Import is what became of another system's files; Imported are the ids.
type Import struct {
	Type     string    `json:"type"`
	Layout   string    `json:"layout" empty:"null"`
	Imported []string  `json:"imported"`
	Skipped  []Skipped `json:"skipped"`
	Warnings []string  `json:"warnings"`
}

// Skipped is a file that was left out, and why.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Tuple is a checkpoint in a thread of them, as tools that analyse agents read
// them: one of the lines of export --as jsonl. Checkpoint is its record.
type Tuple struct {
	Type               string `json:"type"`
	ThreadID           string `json:"thread_id"`
	CheckpointID       string `json:"checkpoint_id" empty:"null"`
	ParentCheckpointID string `json:"parent_checkpoint_id" empty:"null"`
	Commit             string `json:"commit"`
	Metadata           Listed `json:"metadata"`
	Checkpoint         any    `json:"checkpoint"`
}

// Export is which files were written for an issue, and which were there as
// they should be.
type Export struct {
	Type      string   `json:"type"`
	Issue     string   `json:"issue" empty:"null"`
	Layout    string   `json:"layout"`
	Dir       string   `json:"dir"`
	Files     []string `json:"files"`
	Unchanged []string `json:"unchanged"`
	Warnings  []string `json:"warnings"`
}
