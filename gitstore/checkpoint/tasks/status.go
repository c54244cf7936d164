package tasks

import "strings"

// Status values of a task.
const (
	Pending  = "pending"
	Queued   = "queued"
	Running  = "running"
	Complete = "complete"
	Failed   = "failed"
	Skipped  = "skipped"
	Blocked  = "blocked"
)

// statusOf returns the status for a word in a record. An empty word means Pending;
// unknown words are returned in lower case.
func statusOf(word string) string {
	switch s := strings.ToLower(word); s {
	case "", "todo", "ready", "not_started":
		return Pending
	case "completed", "done", "success":
		return Complete
	case "in_progress", "started":
		return Running
	case "failure", "error":
		return Failed
	default:
		return s
	}
}

// Over reports whether the task is complete or skipped.
func (t Task) Over() bool { return t.Status == Complete || t.Status == Skipped }

// open reports whether the task is pending or queued.
func (t Task) open() bool { return t.Status == Pending || t.Status == Queued }

// IsComplete reports whether a status word means complete.
func IsComplete(word string) bool { return word != "" && statusOf(word) == Complete }
