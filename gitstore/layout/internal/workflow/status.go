package workflow

import (
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/values"
)

// Workflow status values of records.
const (
	InProgress = "in_progress"
	Completed  = "completed"
	Failed     = "failed"
	Aborted    = "aborted"
	Halted     = "halted"
	Pending    = "pending"
	Skipped    = "skipped"
)

// StatusOf returns the status for a word in real files, "" if the word is unknown.
func StatusOf(word string) string {
	switch strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(word))) {
	case "in_progress", "inprogress", "running", "active", "started", "working", "executing", "planning", "implementing", "dispatched", "pre_execution":
		return InProgress
	case "completed", "complete", "done", "success", "succeeded", "finished", "passed", "implemented", "archived", "stage_4_done", "returned":
		return Completed
	case "failed", "failure", "error", "crashed", "corrupted":
		return Failed
	case "aborted", "abandoned", "cancelled", "canceled":
		return Aborted
	case "halted", "paused", "blocked", "waiting", "stopped":
		return Halted
	case "pending", "not_started", "queued", "idle", "todo", "ready", "deferred":
		return Pending
	case "skipped", "skip":
		return Skipped
	}
	return ""
}

// IsDone reports whether a status is completed or skipped.
func IsDone(word string) bool {
	s := StatusOf(word)
	return s == Completed || s == Skipped
}

// Tasks returns the ids of a record's completed tasks, and of its other tasks.
func Tasks(r *checkpoint.Record) (done, left []string) {
	for id, v := range values.Sub(r.Doc(), "tasks").All() {
		if t, _ := v.(*checkpoint.Map); IsDone(values.Text(t, "status")) {
			done = append(done, id)
		} else {
			left = append(left, id)
		}
	}
	return done, left
}
