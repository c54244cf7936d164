package view

import (
	"encoding/json"
	"io"
	"time"
)

// Save is the result of save, start or run. A skipped save has no checkpoint, and Skipped
// holds the reason. A dry run has no checkpoint either: it describes what would be saved.
type Save struct {
	Type         string    `json:"type"`
	DryRun       bool      `json:"dry_run"`
	CheckpointID string    `json:"checkpoint_id" empty:"null"`
	Skipped      string    `json:"skipped" empty:"null"`
	Issue        string    `json:"issue" empty:"null"`
	Commit       string    `json:"commit" empty:"null"`
	Ref          string    `json:"ref" empty:"null"`
	Trigger      string    `json:"trigger"`
	Phase        string    `json:"phase"`
	CreatedAt    time.Time `json:"created_at"`
	Files        int       `json:"files"`
	Extent       Extent    `json:"extent"`
	LeftOut      []LeftOut `json:"left_out"`
	Pruned       []string  `json:"pruned"`
	Warnings     []string  `json:"warnings"`
}

// Extent states what a checkpoint has of each class of files: complete, partial or none.
type Extent struct {
	Index     string `json:"index" empty:"null"`
	Worktree  string `json:"worktree" empty:"null"`
	Untracked string `json:"untracked" empty:"null"`
}

// LeftOut is a file or directory that a checkpoint lacks. Class is index, worktree or
// untracked.
type LeftOut struct {
	Path   string `json:"path"`
	Class  string `json:"class" empty:"null"`
	Size   int64  `json:"size"`
	Reason string `json:"reason"`
}

// WorkflowStep is the result of phase, task or finish.
type WorkflowStep struct {
	Save
	Progress Progress `json:"progress"`
}

// Progress is the progress of a workflow's phases. Skipped phases count neither as
// completed nor as remaining. Replans counts replans by phase; Awaiting lists phases
// awaiting approval.
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

// Tasks is the result of task with the new state of tasks. Batches lists unfinished tasks
// in execution order; Ready lists tasks that can start now.
type Tasks struct {
	WorkflowStep
	Tasks   []Task     `json:"tasks"`
	Batches [][]string `json:"batches"`
	Ready   []string   `json:"ready"`
}

// Task is one task. By names its claimant; WaitsFor names the failed task that blocks it.
type Task struct {
	ID       string   `json:"id"`
	Status   string   `json:"status"`
	Attempts int      `json:"attempts"`
	Output   string   `json:"output" empty:"null"`
	Error    string   `json:"error" empty:"null"`
	Needs    []string `json:"depends_on"`
	By       string   `json:"claimed_by" empty:"null"`
	WaitsFor string   `json:"waits_for" empty:"null"`
}

// Status is the progress and freshness of a checkpoint. Remaining lists remaining phases;
// Changed lists paths changed since. AutoResume reports whether an unattended resume is
// safe. AutoResumeReason covers only conditions of the previous run.
type Status struct {
	Type            string         `json:"type"`
	CheckpointID    string         `json:"checkpoint_id" empty:"null"`
	Issue           string         `json:"issue" empty:"null"`
	Action          string         `json:"action"`
	CanResume       bool           `json:"can_resume"`
	Complete        bool           `json:"complete"`
	Warnings        []string       `json:"warnings"`
	Reasons         []ReasonRecord `json:"reasons"`
	ResumeFrom      string         `json:"resume_from"`
	CurrentPhase    string         `json:"current_phase"`
	CompletedPhases []string       `json:"completed_phases"`
	Remaining       []string       `json:"remaining"`
	Batches         Batches        `json:"batches"`
	PendingCaptures []string       `json:"pending_captures"`
	Changed         []string       `json:"changed"`
	Unsaved         []string       `json:"unsaved"`

	AutoResume       bool     `json:"auto_resume"`
	AutoResumeReason string   `json:"auto_resume_reason"`
	AwaitingApproval []string `json:"awaiting_approval"`

	SkippedPhases    []string       `json:"skipped_phases"`
	Replans          map[string]int `json:"replans"` // number of replans by phase
	Artifacts        []Artifact     `json:"artifacts"`
	PreservedMinutes float64        `json:"preserved_minutes"` // duration of completed phases

	ArtifactPaths     any       `json:"artifact_paths"`   // paths by name, from a recovery document
	ContextMetadata   any       `json:"context_metadata"` // from a recovery document
	SessionID         string    `json:"session_id" empty:"null"`
	SessionAgent      string    `json:"session_agent" empty:"null"` // if this clone has the session's record
	SessionTranscript string    `json:"session_transcript" empty:"null"`
	SessionCommand    string    `json:"session_command" empty:"null"` // continues the session
	GivenTo           string    `json:"given_to" empty:"null"`        // agent whose session got the work last in this clone
	GivenSession      string    `json:"given_session" empty:"null"`
	GivenAt           time.Time `json:"given_at"`
	GivenCut          bool      `json:"given_cut"`
	NotPushed         string    `json:"not_pushed" empty:"null"` // why the last push in the background failed

	Next    string  `json:"next" empty:"null"` // next action of another system's workflow
	Stories []Story `json:"stories"`

	SavedBy  string     `json:"saved_by" empty:"null"`
	WentBack *WentBack  `json:"went_back"` // nil if no person went back
	Tokens   *Tokens    `json:"tokens"`    // sum of all turns, nil if unknown
	Spent    []TokenUse `json:"spent"`     // the same by agent, model and phase
	Parallel []Parallel `json:"parallel"`

	Fork *ForkSource `json:"fork"` // nil if the issue is not a fork

	Archived   string    `json:"archived" empty:"null"` // reason of the archival of finished work
	ArchivedAt time.Time `json:"archived_at"`
}

// WentBack is a person's restore of a checkpoint that is not the newest: the work goes on from
// it. Left lists the later checkpoints, newest first.
type WentBack struct {
	CheckpointID string    `json:"checkpoint_id"`
	By           string    `json:"by" empty:"null"`
	At           time.Time `json:"at"`
	Left         []string  `json:"left"`
}

// Parallel is a checkpoint that was saved in parallel to the files in this worktree, and that has
// Files which are not here. Command merges them. Refused is the reason if it would be refused.
type Parallel struct {
	CheckpointID string    `json:"checkpoint_id"`
	SavedBy      string    `json:"saved_by" empty:"null"`
	CreatedAt    time.Time `json:"created_at"`
	Files        []string  `json:"files"`
	Refused      string    `json:"refused" empty:"null"`
	Command      string    `json:"command"`
}

// Story is a story of a pipeline's lead. The state of a queued story is "". Conflict describes
// the difference between the lead's record and the story's own record.
type Story struct {
	ID         string `json:"story"`
	State      string `json:"state"`
	CrashCount int    `json:"crash_count"`
	Conflict   string `json:"conflict" empty:"null"`
}

// Artifact is an output file of a phase.
type Artifact struct {
	Phase  string `json:"phase"`
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	Digest string `json:"digest" empty:"null"`
	Title  string `json:"title"`
}

// ReasonRecord is one finding in a verdict.
type ReasonRecord struct {
	Check    string `json:"check"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
}

// Batches is the progress of the execution graph; Current is 0 without a graph. Pending
// lists unfinished tasks as batches in execution order.
type Batches struct {
	Completed []int      `json:"completed"`
	Current   int        `json:"current"`
	Pending   [][]string `json:"pending"`
}

// Resume is the verdict on a checkpoint and the result of a resume. Undo is the command
// or ref for undoing changes to files. Checkpoint has the same type as in Show.
// LabelsAdded and LabelsRemoved list actual or planned label changes of --sync-issue.
type Resume struct {
	Status
	DryRun     bool     `json:"dry_run"`
	Restored   []string `json:"restored"`
	Removed    []string `json:"removed"`
	Conflicts  []string `json:"conflicts"`
	Undo       string   `json:"undo" empty:"null"`
	Checkpoint any      `json:"checkpoint"`

	Earlier []EarlierFile `json:"earlier"`

	PhaseAttempt int `json:"phase_attempt"` // attempt of the current phase; 0 if unknown

	LabelsAdded   []string `json:"labels_added"`
	LabelsRemoved []string `json:"labels_removed"`

	Start []string `json:"start"` // words of the command that starts the agent of --to
}

// Restore lists files of a checkpoint by result. Restored files were written, or would be
// if DryRun is true. Removed are the restored files that are deleted.
// Skipped files were changed since and remain unchanged. Files in InTheWay were not
// restored, because an untracked file exists at the path. Conflicts are the restored files
// whose merge left conflicts. Hints are the next commands. Nothing is the reason if there was
// nothing to restore, or empty. MovedPoint is true if the work goes on from this checkpoint, and
// went on from another one before.
type Restore struct {
	Type          string    `json:"type"`
	DryRun        bool      `json:"dry_run"`
	CheckpointID  string    `json:"checkpoint_id" empty:"null"`
	Restored      []string  `json:"restored"`
	Removed       []string  `json:"removed"`
	Skipped       []string  `json:"skipped"`
	InTheWay      []string  `json:"in_the_way"`
	Sparse        []string  `json:"sparse"`
	LeftOut       []LeftOut `json:"left_out"`
	OtherSessions []string  `json:"other_sessions"`
	Conflicts     []string  `json:"conflicts"`

	Sessions []SessionFile `json:"sessions"` // of OtherSessions

	Earlier []EarlierFile `json:"earlier"`

	Undo    string   `json:"undo" empty:"null"`
	Hints   []string `json:"hints"`
	Nothing string   `json:"nothing" empty:"null"`

	MovedPoint bool `json:"moved_point"`
}

// EarlierFile is a restored path that an earlier checkpoint has, since the checkpoint did not
// capture it.
type EarlierFile struct {
	Path         string `json:"path"`
	CheckpointID string `json:"checkpoint_id"`
}

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
	LeftOut      bool      `json:"left_out"` // a limit excluded files
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

// Undo is the result of undo or redo, or their plan if DryRun is true. Result is the kind of
// the operation, and At is its time; for redo, the time of its undo. Only a restore has
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

// Agent is an agent's settings file with its installed events.
type Agent struct {
	Agent  string     `json:"agent"`
	Path   string     `json:"path"`
	Events []string   `json:"events"`
	Runs   []AgentRun `json:"runs"`
	Why    string     `json:"why" empty:"null"` // where to look if no event ever ran
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
