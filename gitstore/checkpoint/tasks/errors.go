package tasks

import (
	"errors"
	"fmt"
)

// ErrNothing is returned by a repeated change, if the record already has the result.
var ErrNothing = errors.New("nothing to do")

// An UnknownError reports a task that the record does not have.
type UnknownError struct{ ID string }

func (e *UnknownError) Error() string { return fmt.Sprintf("task %q: there is no such task", e.ID) }

// A TransitionError reports a status change that the task's state forbids. Running means
// that the task is running, Awaited that its approval is pending; Why has the reason.
type TransitionError struct {
	ID, Why          string
	Running, Awaited bool
}

func (e *TransitionError) Error() string { return fmt.Sprintf("task %s: %s", e.ID, e.Why) }

// A TaskLimitError reports a task that has reached its limit of attempts.
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
