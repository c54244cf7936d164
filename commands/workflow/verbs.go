package workflow

import (
	"cmp"
	"errors"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

func (t *taskStep) add(l *tasks.List) error {
	plans := make([]tasks.Plan, len(t.ids))
	for i, id := range t.ids {
		plans[i] = tasks.Plan{ID: id, Needs: t.c.Lists["after"], Output: t.output}
	}
	err := l.Add(plans...)
	if errors.As(err, new(*tasks.CycleError)) {
		return exit.Usagef("task add: %w", err)
	}
	return err
}

// start claims a task. Only --force resumes a paused story.
func (t *taskStep) start(l *tasks.List, id string) error {
	r, force := l.Record(), t.c.Flags.Bool("force")
	for _, paused := range []string{story.Of(r), id} {
		if force {
			story.Lift(r, paused)
		} else if err := story.Err(r, paused); err != nil {
			return err
		}
	}
	by := cmp.Or(t.c.Flags.String("by"), t.c.Flags.String("session"), t.c.Env.Getenv("GIT_CHECKPOINT_SESSION"))
	return l.Start(id, tasks.Claim{By: by, At: t.now, Limit: t.limit, Force: force})
}

func (t *taskStep) done(l *tasks.List, id string) error {
	done, err := l.Done(id, tasks.Result{Output: t.output, Digest: t.digest, At: t.now})
	if done.Batch > 0 {
		t.tell("batch %d is complete", done.Batch)
		if t.batch {
			l.Record().SetTrigger(checkpoint.BatchComplete)
		}
	}
	return err
}

func (t *taskStep) fail(l *tasks.List, id string) error {
	out, err := l.Fail(id, tasks.Failure{Error: t.c.Flags.String("error"), TimedOut: t.c.Flags.Bool("timed-out"), At: t.now})
	if out.Again {
		t.tell("task %s is tried once more", id)
	}
	if len(out.Waiting) > 0 {
		t.tell("waiting for task %s: %s", id, phrase.List(out.Waiting))
	}
	if out.Aborted {
		t.tell("task %s was critical: the workflow has failed", id)
	}
	if out.Batch > 0 {
		t.tell("every task of batch %d failed: somebody has to decide how to go on", out.Batch)
	}
	return err
}
