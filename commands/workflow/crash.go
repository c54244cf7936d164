package workflow

import (
	"errors"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/judge"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// lost settles tasks without a worker. With --crash it counts a crash.
func (t *taskStep) lost(l *tasks.List) error {
	ids, crash := t.ids, t.c.Flags.Bool("crash")
	if crash {
		ids = t.crash(l)
		if len(ids)+len(t.crashed) == 0 {
			return exit.Errorf(exit.Usage, "git checkpoint task list", "task fail --crash: no task is running")
		}
		if len(ids) == 0 {
			return nil
		}
	}
	if !crash && t.stories(l) {
		return nil
	}
	became, err := l.Recover(tasks.Recovery{Found: judge.TaskOutputs(t.c, l), At: t.now, Limit: t.limit}, ids...)
	for _, b := range became {
		t.tell("task %s is %s: %s", b.ID, b.Status, b.Why)
		if b.Broken != "" {
			t.broken = append(t.broken, b.Broken)
		}
	}
	if crash && errors.Is(err, tasks.ErrNothing) {
		return nil
	}
	return err
}

// crash counts a crash of the record's story, or of every named or running story or task.
// It returns the tasks to settle.
func (t *taskStep) crash(l *tasks.List) []string {
	ids, r := t.ids, l.Record()
	if len(ids) == 0 {
		for _, task := range l.Running() {
			ids = append(ids, task.ID)
		}
	}
	t.crashed = ids
	if story.Is(r) {
		t.crashed = []string{story.Of(r)}
	}
	for _, id := range t.crashed {
		story.Crash(r, id)
	}
	var settle []string
	for _, id := range ids {
		if !story.Has(r, id) || l.Has(id) {
			settle = append(settle, id)
		}
	}
	return settle
}
