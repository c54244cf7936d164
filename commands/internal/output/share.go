package output

// Sync is the result of sync, push or fetch.
type Sync struct {
	Type   string   `json:"type"`
	Remote string   `json:"remote" empty:"null"`
	Issues []Synced `json:"issues"`
}

// Synced is the result for one issue, with numbers of checkpoints.
type Synced struct {
	Issue   string `json:"issue" empty:"null"`
	Fetched int    `json:"fetched"`
	Pushed  int    `json:"pushed"`
	Joined  bool   `json:"joined"`
	Result  string `json:"result"`
}

// Import is the result of importing another system's files; Imported lists ids.
type Import struct {
	Type     string    `json:"type"`
	Layout   string    `json:"layout" empty:"null"`
	Imported []string  `json:"imported"`
	Skipped  []Skipped `json:"skipped"`
	Warnings []string  `json:"warnings"`
}

// Skipped is an excluded file with the reason.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Tuple is one line of export --as jsonl: a checkpoint in a thread of checkpoints, as
// expected by analysis tools for agents. Checkpoint is its record.
type Tuple struct {
	Type               string `json:"type"`
	ThreadID           string `json:"thread_id"`
	CheckpointID       string `json:"checkpoint_id" empty:"null"`
	ParentCheckpointID string `json:"parent_checkpoint_id" empty:"null"`
	Commit             string `json:"commit"`
	Metadata           Listed `json:"metadata"`
	Checkpoint         any    `json:"checkpoint"`
}

// Export lists written and unchanged files of an export.
type Export struct {
	Type      string   `json:"type"`
	Issue     string   `json:"issue" empty:"null"`
	Layout    string   `json:"layout"`
	Dir       string   `json:"dir"`
	Files     []string `json:"files"`
	Unchanged []string `json:"unchanged"`
	Warnings  []string `json:"warnings"`
}
