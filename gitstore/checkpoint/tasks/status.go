package tasks

import "strings"

// The words for how a task stands.
const (
	Pending  = "pending"
	Queued   = "queued"
	Running  = "running"
	Complete = "complete"
	Failed   = "failed"
	Skipped  = "skipped"
	Blocked  = "blocked"
)

// statusOf maps what a record may have to these words; no word is Pending. A
// word that nobody knows is kept.
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

// Over reports whether nothing is left to do.
func (t Task) Over() bool { return t.Status == Complete || t.Status == Skipped }

// open reports whether nobody has begun with it.
func (t Task) open() bool { return t.Status == Pending || t.Status == Queued }

// IsComplete reports whether a word of a record says that a task is complete.
func IsComplete(word string) bool { return word != "" && statusOf(word) == Complete }
