package view

import (
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/diff"
)

// CheckpointList holds the checkpoints of one issue, or of all issues if Issue is empty,
// newest first.
type CheckpointList struct {
	Type             string    `json:"type"`
	Issue            string    `json:"issue" empty:"null"`
	Checkpoints      []ListRow `json:"checkpoints"`
	Latest           string    `json:"latest" empty:"null"`
	TotalCheckpoints int       `json:"total_checkpoints"`

	Parallel []Parallel       `json:"parallel"`
	Fork     *checkpoint.Fork `json:"fork"` // nil if the issue is not a fork, or if there are several
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
	Archived     bool      `json:"archived"`
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
	Turn         *int               `json:"turn"` // number in the chain
	FilesChanged *int               `json:"files_changed"`
	LinesAdded   *int               `json:"lines_added"`
	LinesDeleted *int               `json:"lines_deleted"`
	SessionID    string             `json:"session_id" empty:"null"`
	SessionAgent string             `json:"session_agent" empty:"null"`
	Files        []string           `json:"files" empty:"null"` // paths that the turn changed
	Usage        []checkpoint.Spent `json:"usage" empty:"null"` // tokens of the turn by model

	Parents []string `json:"parents" empty:"null"` // with --graph: ids of the checkpoints that it came after
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

	Double       bool     `json:"double"`
	OtherCommits []string `json:"other_commits"`

	Parallel []Parallel       `json:"parallel"`
	Fork     *checkpoint.Fork `json:"fork"` // nil if the issue is not a fork
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
	Type  string             `json:"type"`
	From  string             `json:"from" empty:"null"`
	To    string             `json:"to" empty:"null"`
	State []diff.FieldChange `json:"state"`
	Files []FileChange       `json:"files"`

	// Set with --stat, otherwise nil.
	FilesChanged *int `json:"files_changed"`
	LinesAdded   *int `json:"lines_added"`
	LinesDeleted *int `json:"lines_deleted"`
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

// Setting is one setting with its origin, such as "default", ".checkpoint.yaml:3",
// "git config (local) .git/config" or "environment GIT_CHECKPOINT_PUSH".
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

// Blame is the record of blame: the lines of a file with their sources.
type Blame struct {
	Type    string        `json:"type"`
	Issue   string        `json:"issue"`
	Path    string        `json:"path"`
	Sources []BlameSource `json:"sources"`
	Lines   []BlameLine   `json:"lines"`
}

// BlameSource is a checkpoint or a commit that brought lines, or neither if the lines are not
// saved. AfterTurn is the number of turns before a checkpoint that is no turn.
type BlameSource struct {
	Checkpoint string    `json:"checkpoint" empty:"null"`
	Commit     string    `json:"commit" empty:"null"`
	Trigger    string    `json:"trigger" empty:"null"`
	Turn       *int      `json:"turn"`
	AfterTurn  *int      `json:"after_turn"`
	Agent      string    `json:"agent" empty:"null"`
	Session    string    `json:"session" empty:"null"`
	Request    string    `json:"request" empty:"null"`
	Author     string    `json:"author" empty:"null"`
	Time       time.Time `json:"time"`
	Summary    string    `json:"summary" empty:"null"`
	Saved      bool      `json:"saved"`
}

// BlameLine is a line of a file. Source is an index of Sources.
type BlameLine struct {
	Line   int    `json:"line"`
	Source int    `json:"source"`
	Text   string `json:"text"`
}

// Bisect is the record of bisect: the first checkpoint at which the command fails.
type Bisect struct {
	Type         string `json:"type"`
	Issue        string `json:"issue"`
	CheckpointID string `json:"checkpoint_id"`
	Before       string `json:"before" empty:"null"`
	Turn         *int   `json:"turn"`
	Agent        string `json:"agent" empty:"null"`
	Session      string `json:"session" empty:"null"`
	Request      string `json:"request" empty:"null"`
	Runs         int    `json:"runs"`
	Skipped      int    `json:"skipped"`
	Commits      bool   `json:"commits"`
	Restore      string `json:"restore" empty:"null"`
}

// Fork is the record of fork: the new issues.
type Fork struct {
	Type         string      `json:"type"`
	DryRun       bool        `json:"dry_run"`
	Issue        string      `json:"issue"`
	CheckpointID string      `json:"checkpoint_id"`
	Forks        []ForkEntry `json:"forks"`
}

// ForkEntry is a new fork.
type ForkEntry struct {
	Issue        string `json:"issue"`
	Name         string `json:"name"`
	CheckpointID string `json:"checkpoint_id" empty:"null"`
	Branch       string `json:"branch" empty:"null"`
	Worktree     string `json:"worktree" empty:"null"`
}

// Compare is the record of compare.
type Compare struct {
	Type     string          `json:"type"`
	Issue    string          `json:"issue" empty:"null"` // the issue of all attempts
	Attempts []AttemptRecord `json:"attempts"`
}

// AttemptRecord is an attempt of a comparison.
type AttemptRecord struct {
	Issue        string             `json:"issue"`
	CheckpointID string             `json:"checkpoint_id"`
	Result       string             `json:"result" empty:"null"`
	ExitCode     *int               `json:"exit_code"`
	FilesChanged *int               `json:"files_changed"`
	LinesAdded   *int               `json:"lines_added"`
	LinesDeleted *int               `json:"lines_deleted"`
	Seconds      *int               `json:"seconds"`
	Turns        int                `json:"turns"`
	Tokens       *checkpoint.Tokens `json:"tokens"`
	Best         bool               `json:"best"`
}

// Adopt is the record of adopt.
type Adopt struct {
	Type         string   `json:"type"`
	DryRun       bool     `json:"dry_run"`
	Issue        string   `json:"issue"`
	Fork         string   `json:"fork"`
	CheckpointID string   `json:"checkpoint_id" empty:"null"` // of the issue, after the adoption
	Restored     []string `json:"restored"`
	Removed      []string `json:"removed"`
	Skipped      []string `json:"skipped"`
	InTheWay     []string `json:"in_the_way"`
	Conflicts    []string `json:"conflicts"`
	Archived     []string `json:"archived"` // issues of the other forks
	Undo         string   `json:"undo" empty:"null"`
}
