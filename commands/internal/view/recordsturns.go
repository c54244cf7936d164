package view

import "time"

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

// ForkSource is the source of a fork: an issue, and the checkpoint from which the fork started.
type ForkSource struct {
	Issue        string `json:"issue"`
	CheckpointID string `json:"checkpoint_id"`
	Name         string `json:"name"`
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
	Issue        string  `json:"issue"`
	CheckpointID string  `json:"checkpoint_id"`
	Result       string  `json:"result" empty:"null"`
	ExitCode     *int    `json:"exit_code"`
	FilesChanged *int    `json:"files_changed"`
	LinesAdded   *int    `json:"lines_added"`
	LinesDeleted *int    `json:"lines_deleted"`
	Seconds      *int    `json:"seconds"`
	Turns        int     `json:"turns"`
	Tokens       *Tokens `json:"tokens"`
	Best         bool    `json:"best"`
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
