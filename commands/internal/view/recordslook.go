package view

import "time"

// CheckpointList holds the checkpoints of one issue, or of all issues if Issue is empty,
// newest first.
type CheckpointList struct {
	Type             string    `json:"type"`
	Issue            string    `json:"issue" empty:"null"`
	Checkpoints      []ListRow `json:"checkpoints"`
	Latest           string    `json:"latest" empty:"null"`
	TotalCheckpoints int       `json:"total_checkpoints"`

	Parallel []Parallel  `json:"parallel"`
	Fork     *ForkSource `json:"fork"` // nil if the issue is not a fork, or if there are several
}

// ListOverview is a CheckpointList of several issues with their progress.
type ListOverview struct {
	CheckpointList
	Issues      []IssueSummary `json:"issues"`
	OtherIssues int            `json:"other_issues"` // issues that are not in Issues, saved earlier
}

// Operations holds the operations of this worktree, newest first.
type Operations struct {
	CheckpointList
	Operations []Operation `json:"operations"`
}

// Operation is an operation that undo reverts: its state is pending, done or undone.
type Operation struct {
	Number       int       `json:"number"`
	State        string    `json:"state"`
	Command      string    `json:"command"`
	Issues       []string  `json:"issues"`
	At           time.Time `json:"at"`
	CheckpointID string    `json:"checkpoint_id" empty:"null"` // source of the files
	Ref          string    `json:"ref"`
	Gone         bool      `json:"worktree_gone"` // the worktree of the operation was removed, so undo cannot revert it
}

// StatusOverview is a Status of no issue, with the progress of several issues.
type StatusOverview struct {
	Status
	Issues      []IssueSummary `json:"issues"`
	OtherIssues int            `json:"other_issues"` // issues that are not in Issues, saved earlier
}

// IssueSummary is the progress of one issue. The fields of an invalid newest checkpoint
// may be empty.
type IssueSummary struct {
	Issue           string    `json:"issue"`
	CheckpointID    string    `json:"checkpoint_id" empty:"null"`
	CreatedAt       time.Time `json:"created_at"`
	Branch          string    `json:"branch" empty:"null"`
	Valid           bool      `json:"valid"`
	Action          string    `json:"action" empty:"null"`
	Complete        bool      `json:"complete"`
	Progress        string    `json:"progress"` // such as "phase 3 of 5 (build)"
	CurrentPhase    string    `json:"current_phase"`
	CompletedPhases []string  `json:"completed_phases"`
	Remaining       []string  `json:"remaining"`
	Note            string    `json:"note"`
}

// Listed is one checkpoint in a CheckpointList.
type Listed struct {
	CheckpointID string    `json:"checkpoint_id" empty:"null"`
	Issue        string    `json:"issue" empty:"null"`
	Commit       string    `json:"commit" empty:"null"`
	CreatedAt    time.Time `json:"created_at"`
	ImportedAt   time.Time `json:"imported_at"` // if it is not CreatedAt
	Trigger      string    `json:"trigger"`
	Phase        string    `json:"phase"`
	Branch       string    `json:"branch" empty:"null"`
	CanResume    bool      `json:"can_resume"`
	Pinned       bool      `json:"pinned"`
	Valid        bool      `json:"valid"`
	LeftOut      bool      `json:"left_out"`      // a limit excluded files
	Double       bool      `json:"double"`        // the chain has another content under this id
	OtherCommits []string  `json:"other_commits"` // commits of the other contents
	Note         string    `json:"note"`
	SavedBy      string    `json:"saved_by" empty:"null"`
}

// ListRow is a checkpoint of a CheckpointList with its changes since the checkpoint of its
// branch before it.
type ListRow struct {
	Listed

	// Set with --turns, otherwise nil.
	Turn         *int       `json:"turn"` // number in the chain
	FilesChanged *int       `json:"files_changed"`
	LinesAdded   *int       `json:"lines_added"`
	LinesDeleted *int       `json:"lines_deleted"`
	SessionID    string     `json:"session_id" empty:"null"`
	SessionAgent string     `json:"session_agent" empty:"null"`
	Files        []string   `json:"files" empty:"null"` // paths that the turn changed
	Usage        []TokenUse `json:"usage" empty:"null"` // tokens of the turn by model

	Parents []string `json:"parents" empty:"null"` // with --graph: ids of the checkpoints that it came after
}

// Tokens are numbers of tokens. Input has no token that was read from a cache or written to it.
type Tokens struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
}

// TokenUse has the tokens that an agent spent with a model in a phase.
type TokenUse struct {
	Agent string `json:"agent" empty:"null"`
	Model string `json:"model" empty:"null"`
	Phase string `json:"phase" empty:"null"`
	Tokens
}

// SessionFile is a file that another session in the same worktree changed.
type SessionFile struct {
	Path         string `json:"path"`
	SessionID    string `json:"session_id"`
	SessionAgent string `json:"session_agent" empty:"null"`
}

// Show is one complete checkpoint. Checkpoint is a *checkpoint.Record, or its JSON as
// json.RawMessage.
type Show struct {
	Type       string `json:"type"`
	Checkpoint any    `json:"checkpoint"`
	Commit     string `json:"commit" empty:"null"`
	SavedBy    string `json:"saved_by" empty:"null"`

	Parallel []Parallel  `json:"parallel"`
	Fork     *ForkSource `json:"fork"` // nil if the issue is not a fork
}

// Value is one value in a checkpoint's record.
type Value struct {
	Type         string `json:"type"`
	CheckpointID string `json:"checkpoint_id" empty:"null"`
	Path         string `json:"path"`
	Value        any    `json:"value"`
	Commit       string `json:"commit" empty:"null"`
}

// CheckpointDiff holds the differences between two checkpoints.
type CheckpointDiff struct {
	Type  string        `json:"type"`
	From  string        `json:"from" empty:"null"`
	To    string        `json:"to" empty:"null"`
	State []StateChange `json:"state"`
	Files []FileChange  `json:"files"`

	// Set with --stat, otherwise nil.
	FilesChanged *int `json:"files_changed"`
	LinesAdded   *int `json:"lines_added"`
	LinesDeleted *int `json:"lines_deleted"`
}

// StateChange is the change of one path in a record. Op is "added", "removed", "changed"
// or "moved". A side without the path is nil. For an item moved within a list, Old and
// New are its 0-based indexes.
type StateChange struct {
	Path string `json:"path"`
	Op   string `json:"op"`
	Old  any    `json:"old"`
	New  any    `json:"new"`
}

// FileChange is the change of one file in snapshots. From is the previous path of a
// renamed file.
type FileChange struct {
	Path   string `json:"path"`
	Status string `json:"status"`
	From   string `json:"from" empty:"null"`

	// Set for text files with --stat, otherwise nil.
	LinesAdded   *int `json:"lines_added"`
	LinesDeleted *int `json:"lines_deleted"`
}

// Web is a web page: its URL with token, or the output file.
type Web struct {
	Type     string   `json:"type"`
	URL      string   `json:"url" empty:"null"`
	Write    bool     `json:"write"`
	File     string   `json:"file" empty:"null"`
	Warnings []string `json:"warnings"`
}

// Config lists all settings.
type Config struct {
	Type     string    `json:"type"`
	Settings []Setting `json:"settings"`
}

// Setting is one setting with its origin.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// Help is a help text for users.
type Help struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Version describes the build of the program. Format is the version of the stored format.
type Version struct {
	Type    string `json:"type"`
	Program string `json:"program"`
	Commit  string `json:"commit" empty:"null"`
	Date    string `json:"date" empty:"null"`
	Go      string `json:"go"`
	Format  string `json:"format"`
}
