package view

import (
	"encoding/json"
	"io"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/retention"
)

// Prune holds retention decisions, applied unless DryRun is true.
type Prune struct {
	Type      string     `json:"type"`
	Plan      string     `json:"plan" empty:"null"`
	DryRun    bool       `json:"dry_run"`
	Decisions []Decision `json:"decisions"`
	Removed   []string   `json:"removed"`
	Kept      []string   `json:"kept"`
}

// Decision is the retention decision for one checkpoint of an issue.
type Decision struct {
	retention.Decision
	Issue string `json:"issue" empty:"null"`
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
	Type     string            `json:"type"`
	Findings []gitstore.Secret `json:"findings"`
	Skipped  []Skipped         `json:"skipped"`
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

// Import is the result of importing another system's files; Imported lists ids.
type Import struct {
	Type     string    `json:"type"`
	DryRun   bool      `json:"dry_run"`
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
	Branch    string   `json:"branch" empty:"null"`
	Commit    string   `json:"commit" empty:"null"`
	Warnings  []string `json:"warnings"`
}

// Hooks is the result of hooks install, uninstall and status. Changes describes completed
// changes or, if DryRun is true, planned changes. Kept lists changed files.
type Hooks struct {
	Type    string   `json:"type"`
	Action  string   `json:"action"`
	DryRun  bool     `json:"dry_run"`
	Changes []string `json:"changes"`
	Kept    []Kept   `json:"kept"`
	Hooks   []Hook   `json:"hooks"`
	Agents  []Agent  `json:"agents"`
	Skills  []string `json:"skills"`
}

// Kept names a changed file and the copy of its former content.
type Kept struct {
	Path string `json:"path"`
	Copy string `json:"copy"`
}

// Hook is one of git's hooks. Way is "config" or "file". Runs reports whether the canary
// ran; otherwise Why is the reason.
type Hook struct {
	Event   string `json:"event"`
	Way     string `json:"way" empty:"null"`
	Place   string `json:"place" empty:"null"`
	Manager string `json:"manager" empty:"null"`
	Runs    bool   `json:"runs"`
	Why     string `json:"why"`
	Setting string `json:"setting"`
}

// Agent is an agent's settings file with its installed events, or one that is damaged.
type Agent struct {
	Agent  string     `json:"agent"`
	Path   string     `json:"path"`
	Events []string   `json:"events"`
	Runs   []AgentRun `json:"runs"`
	Why    string     `json:"why" empty:"null"` // where to look if no event ever ran
	Off    string     `json:"off" empty:"null"` // why the agent runs no hook of the file
}

// AgentRun is the time at which an agent's event called its hook last in this clone.
type AgentRun struct {
	Event   string    `json:"event"`
	LastRan time.Time `json:"last_ran"`
}

// WriteContext writes the JSON object with which a hook passes context to an agent at the
// start of a session. The agent defines this format. fields are the members that the agent
// reads. message is a line for the user.
func WriteContext(w io.Writer, fields []string, text, message string) error {
	object := map[string]any{}
	for _, field := range fields {
		switch field {
		case "hookSpecificOutput":
			object["systemMessage"] = message
			object[field] = map[string]string{"hookEventName": "SessionStart", "additionalContext": text}
		case "injectSteps":
			object[field] = []map[string]string{{"ephemeralMessage": text}}
		default:
			object[field] = text
		}
	}
	return json.NewEncoder(w).Encode(object)
}
