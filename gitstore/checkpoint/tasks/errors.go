package tasks

import (
	"errors"
	"fmt"
)

// ErrNothing is returned by a move that was made already: there is nothing to
// save.
var ErrNothing = errors.New("nothing to do")

// An UnknownError is a task that the record does not have.
type UnknownError struct{ ID string }

func (e *UnknownError) Error() string { return fmt.Sprintf("task %q: there is no such task", e.ID) }

// A TransitionError is a move that a task does not make as it stands: because
// somebody has begun with it, somebody has to approve it, or what Why says.
type TransitionError struct {
	ID, Why          string
	Running, Awaited bool
}

func (e *TransitionError) Error() string { return fmt.Sprintf("task %s: %s", e.ID, e.Why) }

// A TaskLimitError is a task that was begun as often as it may be.
type TaskLimitError struct {
	ID              string
	Attempts, Limit int
}

func (e *TaskLimitError) Error() string {
	return fmt.Sprintf("task %s: %d attempts, the limit is %d", e.ID, e.Attempts, e.Limit)
}

func refuse(t Task, format string, args ...any) error {
	return &TransitionError{ID: t.ID, Why: fmt.Sprintf(format, args...), Running: t.Status == Running}
}
