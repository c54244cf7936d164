package layout

import "strings"

// Workflow status values of records.
const (
	inProgress = "in_progress"
	completed  = "completed"
	failed     = "failed"
	aborted    = "aborted"
	halted     = "halted"
	pending    = "pending"
	skipped    = "skipped"
)

// statusOf returns the status for a word in real files, "" if the word is unknown.
func statusOf(word string) string {
	switch strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(word))) {
	case "in_progress", "inprogress", "running", "active", "started", "working", "executing", "planning", "implementing", "dispatched", "pre_execution":
		return inProgress
	case "completed", "complete", "done", "success", "succeeded", "finished", "passed", "implemented", "archived", "stage_4_done", "returned":
		return completed
	case "failed", "failure", "error", "crashed", "corrupted":
		return failed
	case "aborted", "abandoned", "cancelled", "canceled":
		return aborted
	case "halted", "paused", "blocked", "waiting", "stopped":
		return halted
	case "pending", "not_started", "queued", "idle", "todo", "ready", "deferred":
		return pending
	case "skipped", "skip":
		return skipped
	}
	return ""
}

// over reports whether a status is completed or skipped.
func over(word string) bool {
	s := statusOf(word)
	return s == completed || s == skipped
}
