package work

import (
	"errors"
	"path/filepath"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/failure"
)

// TaskFailure adds the issue to task and story errors.
func TaskFailure(issue checkpoint.Issue, next string, err error) error {
	e := &taskError{issue, next, err}
	if code, _ := e.Exit(); err == nil || code == failure.Failure {
		return err
	}
	return e
}

// TaskOutputs returns the existing outputs of the running tasks.
func TaskOutputs(c *invoke.Invocation, l *tasks.List) map[string]tasks.Found {
	found, places := map[string]tasks.Found{}, map[string]string{}
	for _, t := range l.Running() {
		if t.Output == "" || c.Store.Root() == "" {
			continue
		}
		if f := TaskOutput(c, t.Output); f.Exists {
			found[t.ID], places[t.ID] = f, t.Output
		}
	}
	var list []string
	for _, place := range places {
		list = append(list, place)
	}
	digests, err := c.Store.Files.Digests(c.Ctx, list)
	for id, f := range found {
		if err == nil {
			f.Digest = digests[places[id]]
			found[id] = f
		}
	}
	return found
}

// maxOutput limits the bytes that are read of an output.
const maxOutput = 1 << 20

// TaskOutput examines an output. A JSON file must be complete and can contain a status.
func TaskOutput(c *invoke.Invocation, place string) tasks.Found {
	data, size, err := invoke.ReadPlain(c.Store.Root(), place, maxOutput)
	switch {
	case err != nil:
		return tasks.Found{Exists: errors.Is(err, invoke.ErrNotPlain)}
	case !strings.EqualFold(filepath.Ext(place), ".json") || size > maxOutput:
		return tasks.Found{Exists: true}
	}
	status, err := tasks.OutputStatus(data)
	return tasks.Found{Exists: true, Broken: err != nil, Status: status}
}

// A taskError is a refused move of a task or a story, with its issue.
type taskError struct {
	issue checkpoint.Issue
	next  string // next task, or ""
	err   error
}

func (e *taskError) Error() string { return e.err.Error() }
func (e *taskError) Unwrap() error { return e.err }

// Exit returns the exit code and the hint of errors about tasks and stories.
func (e *taskError) Exit() (code int, hint string) {
	var (
		unknown *tasks.UnknownError
		refused *tasks.TransitionError
		limit   *tasks.TaskLimitError
		paused  *story.LimitError
		cycle   *tasks.CycleError
	)
	ways := func(w ...progress.Way) string { return progress.Alternatives(e.issue, w...) }
	giveUp := progress.Way{"finish", "--status", "failed"}
	switch {
	case errors.As(e.err, &unknown):
		return failure.Usage, ways(progress.Way{"task", "list"}, progress.Way{"task", "add", unknown.ID})
	case errors.As(e.err, &refused) && refused.Live:
		return failure.Refused, ways(progress.Way{"task", "list", "--ready"}, progress.Way{"task", "recover", refused.ID, "--force"})
	case errors.As(e.err, &refused) && refused.Running:
		return failure.Refused, ways(progress.Way{"task", "list", "--ready"})
	case errors.As(e.err, &refused) && refused.Awaited:
		return failure.Refused, ways(progress.Way{"phase", "approve", refused.ID})
	case errors.As(e.err, &refused):
		return failure.Refused, ways(progress.Way{"task", "list"})
	case errors.As(e.err, &limit):
		return failure.Limit, ways(progress.Way{"task", "start", limit.ID, "--force"}, giveUp)
	case errors.As(e.err, &paused) && e.next != "":
		return failure.Limit, ways(progress.Way{"task", "start", e.next, "--force"}, giveUp)
	case errors.As(e.err, &paused):
		return failure.Limit, ways(giveUp)
	case errors.As(e.err, &cycle):
		return failure.Invalid, ways(progress.Way{"resume", "--fallback"})
	}
	return failure.Failure, ""
}
