package judge

import (
	"errors"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// A taskError is a refused move of a task or a story, with its issue.
type taskError struct {
	issue checkpoint.Issue
	next  string // next task, or ""
	err   error
}

func (e *taskError) Error() string { return e.err.Error() }
func (e *taskError) Unwrap() error { return e.err }

// ExitCode returns the exit code of the error.
func (e *taskError) ExitCode() int {
	code, _ := e.code()
	return code
}

// ExitHint returns the command to type next.
func (e *taskError) ExitHint() string {
	_, hint := e.code()
	return hint
}

// TaskFailure adds the issue to task and story errors.
func TaskFailure(issue checkpoint.Issue, next string, err error) error {
	e := &taskError{issue, next, err}
	if err == nil || e.ExitCode() == exit.Failure {
		return err
	}
	return e
}

// code returns the exit code and the hint of errors about tasks and stories.
func (e *taskError) code() (code int, hint string) {
	var (
		unknown *tasks.UnknownError
		refused *tasks.TransitionError
		limit   *tasks.TaskLimitError
		paused  *story.LimitError
		cycle   *tasks.CycleError
	)
	ways := func(w ...progress.Way) string { return phrase.Alternatives(e.issue, w...) }
	giveUp := progress.Way{"finish", "--status", "failed"}
	switch {
	case errors.As(e.err, &unknown):
		return exit.Usage, ways(progress.Way{"task", "add", unknown.ID})
	case errors.As(e.err, &refused) && refused.Running:
		return exit.Refused, ways(progress.Way{"task", "recover", refused.ID})
	case errors.As(e.err, &refused) && refused.Awaited:
		return exit.Refused, ways(progress.Way{"phase", "approve", refused.ID})
	case errors.As(e.err, &refused):
		return exit.Refused, ways(progress.Way{"task", "list"})
	case errors.As(e.err, &limit):
		return exit.Limit, ways(progress.Way{"task", "start", limit.ID, "--force"}, giveUp)
	case errors.As(e.err, &paused) && e.next != "":
		return exit.Limit, ways(progress.Way{"task", "start", e.next, "--force"}, giveUp)
	case errors.As(e.err, &paused):
		return exit.Limit, ways(giveUp)
	case errors.As(e.err, &cycle):
		return exit.Invalid, ways(progress.Way{"resume", "--fallback"})
	}
	return exit.Failure, ""
}
