package commands

import (
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// suspect notes that the worker of a task, or of a story that the lead's record
// has, gives no sign of life. It counts nothing: only a crash that is confirmed
// does.
func (t *taskStep) suspect(l *tasks.List, id string) error {
	if r := l.Record(); !l.Has(id) && story.Has(r, id) {
		if !story.Suspect(r, id) {
			return tasks.ErrNothing
		}
		return nil
	}
	return l.Suspect(id, t.now)
}

// clear takes a suspicion back: the worker answered.
func (t *taskStep) clear(l *tasks.List, id string) error {
	if r := l.Record(); !l.Has(id) && story.Has(r, id) {
		if !story.Clear(r, id) {
			return tasks.ErrNothing
		}
		return nil
	}
	return l.Clear(id)
}
