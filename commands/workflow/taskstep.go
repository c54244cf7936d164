package workflow

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/failure"
)

// A taskStep is one verb of task with its flags and settings.
type taskStep struct {
	c       *invoke.Invocation
	issue   checkpoint.Issue
	verb    string
	options *taskOptions
	ids     []string
	now     time.Time
	limit   int // maximum number of attempts
	output  string
	digest  string
	batch   bool // a completed batch has its own trigger

	told    []string // messages about the last move
	crashed []string // stories and tasks whose crash the last move counted
	broken  []string // incomplete outputs that the last move found
}

// newTaskStep returns the step of the command line.
func newTaskStep(c *invoke.Invocation, o *taskOptions, issue checkpoint.Issue, verb string) (*taskStep, error) {
	t := &taskStep{c: c, issue: issue, verb: verb, options: o, ids: view.Distinct(c.Line.Args[1:]), now: c.Env.Now(), limit: c.Settings.Int("limits.task_retries") + 1}
	t.batch, _ = c.Settings.TriggerEnabled(checkpoint.BatchComplete)
	if o.output == "" {
		return t, nil
	}
	var err error
	if t.output, err = c.RootPath(o.output); err == nil {
		err = gitstore.CheckPlace(t.output)
	}
	if err != nil {
		return nil, failure.Usagef("task %s: --output: %w", verb, err)
	}
	if verb == "done" {
		t.digest, err = finishedOutput(c, t.output)
	}
	return t, err
}

// finishedOutput returns the digest of an output. It fails if the file is missing or
// incomplete, so that the task does not move.
func finishedOutput(c *invoke.Invocation, place string) (digest string, err error) {
	if err := outputExists(c, "task done", place); err != nil {
		return "", err
	}
	if found := work.TaskOutput(c, place); found.Broken {
		return "", failure.Errorf(failure.Usage, "", "task done: --output: %s: not valid JSON", view.QuotePath(place))
	}
	digests, err := c.Store.Files.Digests(c.Ctx, []string{place})
	return digests[place], err
}

// move moves all tasks or no task.
func (t *taskStep) move(r *checkpoint.Record) error {
	t.told, t.crashed, t.broken = nil, nil, nil
	l := tasks.Of(r)
	switch err := t.moveAll(l); {
	case errors.Is(err, tasks.ErrNothing):
		how := map[string]string{"add": "there", "start": "running", "done": "complete", "fail": "failed", "suspect": "suspected", "clear": "clear"}[t.verb]
		if how == "" {
			return &progress.NothingError{Reason: "no task was running"}
		}
		return &progress.NothingError{Reason: view.Plural(len(t.ids), "task") + " already " + how + ": " + view.List(t.ids)}
	case err != nil:
		return work.TaskFailure(t.issue, cmp.Or(t.ids...), err)
	}
	if p := l.Point(); p != "" {
		r.SetResumeFrom(p)
	}
	story.Worked(r, strings.TrimSpace("task "+t.verb+" "+view.List(t.ids)), l.Left())
	return nil
}

func (t *taskStep) moveAll(l *tasks.List) error {
	switch {
	case t.verb == "add":
		plans := make([]tasks.Plan, len(t.ids))
		for i, id := range t.ids {
			plans[i] = tasks.Plan{ID: id, Needs: t.options.after, Output: t.output}
		}
		err := l.Add(plans...)
		if errors.As(err, new(*tasks.CycleError)) {
			return failure.Usagef("task add: %w", err)
		}
		return err
	case t.verb == "recover" || t.options.crash:
		return t.lost(l)
	}
	one := map[string]func(*tasks.List, string) error{
		"start": t.start, "done": t.done, "fail": t.fail,
		"suspect": t.marks(story.Suspect, (*tasks.List).Suspect), "clear": t.marks(story.Clear, (*tasks.List).Clear),
	}[t.verb]
	all := tasks.ErrNothing
	for _, id := range t.ids {
		err := one(l, id)
		if err == nil {
			all = nil
		} else if !errors.Is(err, tasks.ErrNothing) {
			return err
		}
	}
	return all
}

func (t *taskStep) tell(format string, args ...any) {
	t.told = append(t.told, fmt.Sprintf(format, args...))
}

// after prints the messages of the step and returns an error if a limit is reached.
func (t *taskStep) after(s *gitstore.Saved) error {
	for _, line := range t.told {
		t.c.Infof("%s", line)
	}
	if err := t.clean(); err != nil {
		return err
	}
	l := tasks.Of(s.Record)
	for _, id := range t.crashed {
		if err := story.Err(s.Record, id); err != nil {
			next := id
			if !l.Has(id) {
				next = cmp.Or(l.Left()...)
			}
			return work.TaskFailure(s.Issue, next, err)
		}
	}
	return nil
}

func (t *taskStep) note() string {
	what := "tasks"
	if len(t.ids) == 1 {
		what = "task"
	}
	return stepNote(strings.TrimSpace(what+" "+view.List(view.Few(t.ids, 5))), t.verb, t.options.error)
}

// start claims a task. Only --force resumes a paused story.
func (t *taskStep) start(l *tasks.List, id string) error {
	r, force := l.Record(), t.options.force
	for _, paused := range []string{story.Of(r), id} {
		if force {
			story.Lift(r, paused)
		} else if err := story.Err(r, paused); err != nil {
			return err
		}
	}
	return l.Start(id, tasks.Claim{By: t.worker(), At: t.now, Limit: t.limit, Force: force})
}

// worker returns the name of the worker that runs the command: --by, or the session.
func (t *taskStep) worker() string {
	return cmp.Or(t.options.by, t.options.Session, t.c.Env.Getenv("GIT_CHECKPOINT_SESSION"))
}

func (t *taskStep) done(l *tasks.List, id string) error {
	batch, err := l.Done(id, tasks.Result{By: t.options.by, Force: t.options.force, Output: t.output, Digest: t.digest, At: t.now})
	if batch > 0 {
		t.tell("batch %d is complete", batch)
		if t.batch {
			l.Record().SetTrigger(checkpoint.BatchComplete)
		}
	}
	return err
}

func (t *taskStep) fail(l *tasks.List, id string) error {
	out, err := l.Fail(id, tasks.Failure{By: t.options.by, Force: t.options.force, Error: t.options.error, TimedOut: t.options.timedOut, At: t.now})
	if out.Again {
		t.tell("task %s is tried once more", id)
	}
	if len(out.Waiting) > 0 {
		t.tell("waiting for task %s: %s", id, view.List(out.Waiting))
	}
	if out.Aborted {
		t.tell("task %s was critical: the workflow has failed", id)
	}
	if out.Batch > 0 {
		t.tell("every task of batch %d failed: somebody has to decide how to go on", out.Batch)
	}
	return err
}

// marks returns the verb that marks the worker of a task, or of a story in the lead's record, as
// unresponsive, or that removes the mark. It counts no crash; only a confirmed crash counts.
func (t *taskStep) marks(ofStory func(*checkpoint.Record, string) bool, ofTask func(*tasks.List, string, time.Time) error) func(*tasks.List, string) error {
	return func(l *tasks.List, id string) error {
		r := l.Record()
		switch {
		case l.Has(id) || !story.Has(r, id):
			return ofTask(l, id, t.now)
		case !ofStory(r, id):
			return tasks.ErrNothing
		}
		return nil
	}
}
