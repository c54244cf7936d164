package layout

import (
	"strings"
	"unicode"

	"git-checkpoint/gitstore/checkpoint"
)

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

// tasksByState returns the ids of a record's completed tasks, and of its other tasks.
func tasksByState(r *checkpoint.Record) (done, left []string) {
	for id, v := range sub(r.Doc(), "tasks").All() {
		if t, _ := v.(*object); over(text(t, "status")) {
			done = append(done, id)
		} else {
			left = append(left, id)
		}
	}
	return done, left
}

// line folds a text into one line without control characters.
func line(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return '\ufffd'
		}
		return r
	}, s)
}
